import { setTimeout as pause } from "node:timers/promises";

import { brokerPodOf } from "../../../api/broker/broker-pods.ts";
import { formatDuration } from "../../../api/duration.ts";
import { PlatformError } from "../../../api/platform-error.ts";
import type { BrokerServers } from "../../../core/ports/broker-servers.ts";
import type { KubeClient, ObjectPlace } from "../client/client.ts";
import { kinds } from "../client/kinds.ts";
import { isConflict } from "../client/kube-refusal.ts";
import type { KubeObject } from "../client/kube-types.ts";
import type { ObservedPod } from "../manifests/status/observed-objects.ts";

/** Durations are milliseconds. */
export interface KubeBrokerServersOptions {
  /** Longest time until a deleted pod is replaced: its grace period, and the start of the new one. */
  readonly replaceTimeout?: number;
  /** Between two checks of the pod. */
  readonly checkInterval?: number;
  /**
   * Shortest time between two restarts of one server: on a disk that stays full a new pod is no better than the old.
   */
  readonly cooldown?: number;
}

type Pod = ObservedPod & KubeObject;

const defaults = { replaceTimeout: 180_000, checkInterval: 1_000, cooldown: 120_000 };

/** Servers of the broker as pods of a StatefulSet: a restart deletes the pod, and the StatefulSet creates another. */
export class KubeBrokerServers implements BrokerServers {
  readonly #client: KubeClient;
  readonly #namespace: string;
  readonly #options: Required<KubeBrokerServersOptions>;
  readonly #restartedAt = new Map<string, number>();

  constructor(client: KubeClient, platformNamespace: string, options: KubeBrokerServersOptions = {}) {
    this.#client = client;
    this.#namespace = platformNamespace;
    this.#options = { ...defaults, ...options };
  }

  async restart(server: string, stop: AbortSignal): Promise<boolean> {
    const name = brokerPodOf(server, this.#namespace);
    if (name === undefined || this.#wasJustRestarted(name)) return false;
    const place = { namespace: this.#namespace, name };
    try {
      const old = await this.#client.find<Pod>(kinds.pod, place, { signal: stop });
      if (old !== undefined) await this.#deletePod(old, place, stop);
      this.#restartedAt.set(name, performance.now());
      await this.#awaitReplacement(place, old?.metadata.uid, stop);
      this.#restartedAt.set(name, performance.now());
      return true;
    } catch (err) {
      if (stop.aborted) return false;
      throw err;
    }
  }

  #wasJustRestarted(name: string): boolean {
    const at = this.#restartedAt.get(name);
    return at !== undefined && performance.now() - at < this.#options.cooldown;
  }

  /** Deletes exactly this pod: it may have been replaced since it was read. */
  async #deletePod(
    { metadata: { uid, deletionTimestamp } }: Pod,
    place: ObjectPlace,
    signal: AbortSignal,
  ): Promise<void> {
    if (uid === undefined || deletionTimestamp !== undefined) return;
    try {
      await this.#client.delete(kinds.pod, place, { uid }, { signal });
    } catch (err) {
      if (!isConflict(err)) throw err;
    }
  }

  async #awaitReplacement(place: ObjectPlace, oldUid: string | undefined, signal: AbortSignal): Promise<void> {
    const { replaceTimeout, checkInterval: every } = this.#options;
    const until = performance.now() + replaceTimeout;
    let cause: unknown;
    while (performance.now() < until) {
      try {
        const pod = await this.#client.find<Pod>(kinds.pod, place, { signal });
        if (pod !== undefined && pod.metadata.uid !== oldUid && isReady(pod)) return;
        cause = undefined;
      } catch (err) {
        // The API server may be unavailable for a moment; the restart goes on anyway.
        cause = err;
      }
      await pause(every, undefined, { signal });
    }
    const sentence = `Cannot restart server "${place.name}" of the broker: its pod is not ready after ${formatDuration(replaceTimeout)}`;
    throw new PlatformError("provider_unavailable", sentence, cause === undefined ? {} : { cause });
  }
}

function isReady({ metadata, status }: Pod): boolean {
  const said = status?.conditions?.some((each) => each.type === "Ready" && each.status === "True") ?? false;
  return said && metadata.deletionTimestamp === undefined;
}
