import { PlatformError } from "../../../api/platform-error.ts";
import { formatRef, type FunctionRef } from "../../../core/functions/function-ref.ts";
import type { LoggedFunction, LoggedFunctions } from "../../../core/ports/logged-functions.ts";
import type { KubeObject } from "../client/kube-types.ts";
import type { ObservedPod } from "../manifests/status/observed-objects.ts";
import type { LoggedPods, StartedPod } from "../stores/kube-log-source.ts";
import type { LoggedPod } from "../stores/pod-lines.ts";
import type { NamespacedWatch } from "../watch/namespaced-watch.ts";
import type { FollowedPods } from "./followed-pods.ts";

/** Pods of functions, as their watch keeps them; undefined while the container has not run. */
export type PodWatch = NamespacedWatch<KubeObject & Pick<ObservedPod, "status">, StartedPod | undefined>;

/** Milliseconds for which a function counts whose last pod is gone. */
const goneFor = 10_000;

/** Functions with pods, as the watch of pods knows them. */
export class KubeLoggedFunctions implements LoggedFunctions, LoggedPods {
  readonly #followed: FollowedPods;
  readonly #now: () => number;
  readonly #pods = new Map<string, { readonly ref: FunctionRef; readonly pods: Map<string, LoggedPod> }>();
  /** When the last pod of a function was gone. */
  readonly #gone = new Map<string, { readonly ref: FunctionRef; readonly at: number }>();
  readonly #listeners = new Set<(ref: FunctionRef) => void>();
  readonly #unlisten: () => void;
  #isSynced = false;

  /** `followed` is told of all pods; `now` is Unix milliseconds. */
  constructor(watch: PodWatch, followed: FollowedPods, now: () => number = Date.now) {
    this.#followed = followed;
    this.#now = now;
    this.#unlisten = watch.listen(({ key, before, after }) => this.#change(key, before, after));
    for (const [key, pod] of watch.entries()) this.#change(key, undefined, pod);
    watch.synced.then(
      () => {
        this.#isSynced = true;
      },
      () => {},
    );
  }

  async active(): Promise<readonly LoggedFunction[]> {
    if (!this.#isSynced)
      throw new PlatformError("provider_unavailable", "Cannot look for logs: the pods are not known yet");
    for (const [key, { at }] of this.#gone) if (this.#now() - at >= goneFor) this.#gone.delete(key);
    const running = [...this.#pods.values()].map(({ ref, pods }) => ({ ...ref, replicas: this.#countOf(pods) }));
    return [...running, ...[...this.#gone.values()].map(({ ref }) => ({ ...ref, replicas: 0 }))];
  }

  async podsOf(ref: FunctionRef): Promise<readonly LoggedPod[]> {
    return [...(this.#pods.get(formatRef(ref))?.pods.values() ?? [])];
  }

  knows(ref: FunctionRef): boolean {
    return this.#pods.has(formatRef(ref));
  }

  onChange(changed: (ref: FunctionRef) => void): () => void {
    this.#listeners.add(changed);
    return () => this.#listeners.delete(changed);
  }

  /** A function was called at `at`, Unix milliseconds. */
  called(ref: FunctionRef, at: number): void {
    for (const key of this.#pods.get(formatRef(ref))?.pods.keys() ?? []) this.#followed.called(key, at);
  }

  close(): void {
    this.#unlisten();
    this.#followed.close();
  }

  /** Pods whose logs are followed. */
  #countOf(pods: ReadonlyMap<string, LoggedPod>): number {
    return [...pods.keys()].filter((key) => this.#followed.find(key)?.isFollowed === true).length;
  }

  #change(key: string, before: StartedPod | undefined, after: StartedPod | undefined): void {
    if (before !== undefined && before.container !== after?.container) this.#remove(key, before);
    if (after === undefined) {
      this.#followed.remove(key);
    } else {
      this.#set(key, after);
      const startedAt = Date.parse(after.startedAt ?? "") || this.#now();
      this.#followed.set(key, { startedAt, endedAt: after.endedAt });
    }
    const changed = after ?? before;
    if (changed !== undefined) for (const listener of this.#listeners) listener(refOf(changed));
  }

  #set(key: string, pod: LoggedPod): void {
    const ref = refOf(pod);
    const known = this.#pods.get(formatRef(ref)) ?? { ref, pods: new Map<string, LoggedPod>() };
    known.pods.set(key, pod);
    this.#pods.set(formatRef(ref), known);
    this.#gone.delete(formatRef(ref));
  }

  #remove(key: string, pod: LoggedPod): void {
    const ref = refOf(pod);
    const known = this.#pods.get(formatRef(ref));
    known?.pods.delete(key);
    if (known?.pods.size !== 0) return;
    this.#pods.delete(formatRef(ref));
    this.#gone.set(formatRef(ref), { ref, at: this.#now() });
  }
}

function refOf({ namespace, container }: LoggedPod): FunctionRef {
  return { namespace, name: container };
}
