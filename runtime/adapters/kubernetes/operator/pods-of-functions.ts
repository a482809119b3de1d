import { formatRef, type FunctionRef } from "../../../core/functions/function-ref.ts";
import type { ObservedPod } from "../manifests/status/observed-objects.ts";
import { functionOf } from "./function-caches.ts";

/** Index of pods by function. */
export class PodsOfFunctions {
  readonly #pods = new Map<string, Map<string, ObservedPod>>();
  readonly #functions = new Map<string, string>();

  /** Stores the pod of that `namespace/name` as it now is; undefined when it is gone. */
  change(key: string, pod: ObservedPod | undefined): void {
    const before = this.#functions.get(key);
    if (before !== undefined) {
      const pods = this.#pods.get(before);
      pods?.delete(key);
      if (pods?.size === 0) this.#pods.delete(before);
    }
    this.#functions.delete(key);
    const ref = pod && functionOf(pod);
    if (pod === undefined || ref === undefined) return;
    const name = formatRef(ref);
    this.#functions.set(key, name);
    const pods = this.#pods.get(name) ?? new Map<string, ObservedPod>();
    this.#pods.set(name, pods.set(key, pod));
  }

  of(ref: FunctionRef): readonly ObservedPod[] {
    return [...(this.#pods.get(formatRef(ref))?.values() ?? [])];
  }
}
