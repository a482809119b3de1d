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
  /** A pod that was ended is to be replaced within it: its grace period, and a start. */
  readonly patience?: number;
  /** Between two looks at it. */
  readonly every?: number;
  /** Between two ends of one server: on a disk that stays full a new one is as sick as the old one. */
  readonly gap?: number;
}

type Pod = ObservedPod & KubeObject;

const defaults = { patience: 180_000, every: 1_000, gap: 120_000 };

/** Servers of the broker in pods of a StatefulSet: one that is to end is deleted, and the StatefulSet makes another. */
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
      const sick = await this.#client.find<Pod>(kinds.pod, place, { signal: stop });
      if (sick !== undefined) await this.#end(sick, place, stop);
      this.#restartedAt.set(name, performance.now());
      await this.#replaced(place, sick?.metadata.uid, stop);
      this.#restartedAt.set(name, performance.now());
      return true;
    } catch (err) {
      if (stop.aborted) return false;
      throw err;
    }
  }

  #wasJustRestarted(name: string): boolean {
    const at = this.#restartedAt.get(name);
    return at !== undefined && performance.now() - at < this.#options.gap;
  }

  /** That pod and no other: it may have been replaced since it was looked at. */
  async #end({ metadata: { uid, deletionTimestamp } }: Pod, place: ObjectPlace, signal: AbortSignal): Promise<void> {
    if (uid === undefined || deletionTimestamp !== undefined) return;
    try {
      await this.#client.delete(kinds.pod, place, { uid }, { signal });
    } catch (err) {
      if (!isConflict(err)) throw err;
    }
  }

  async #replaced(place: ObjectPlace, sick: string | undefined, signal: AbortSignal): Promise<void> {
    const { patience, every } = this.#options;
    const until = performance.now() + patience;
    let cause: unknown;
    while (performance.now() < until) {
      try {
        const pod = await this.#client.find<Pod>(kinds.pod, place, { signal });
        if (pod !== undefined && pod.metadata.uid !== sick && isReady(pod)) return;
        cause = undefined;
      } catch (err) {
        // The API server may be away for a moment; what it is asked for is under way.
        cause = err;
      }
      await pause(every, undefined, { signal });
    }
    const sentence = `Cannot restart server "${place.name}" of the broker: its pod is not ready after ${formatDuration(patience)}`;
    throw new PlatformError("provider_unavailable", sentence, cause === undefined ? {} : { cause });
  }
}

function isReady({ metadata, status }: Pod): boolean {
  const said = status?.conditions?.some((each) => each.type === "Ready" && each.status === "True") ?? false;
  return said && metadata.deletionTimestamp === undefined;
}
