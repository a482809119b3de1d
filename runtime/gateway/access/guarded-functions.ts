import type { DesiredFunction } from "../../core/functions/desired-function.ts";
import type { FunctionStore } from "../../core/ports/function-store.ts";

/**
 * The store for one request: `check` gets what a write replaces, undefined for a new function, and throws when the sender
 * may not write that. Nothing can change between the check and the write.
 */
export function guardedFunctions(
  store: FunctionStore,
  check: (current: DesiredFunction | undefined) => void,
): FunctionStore {
  return {
    get: (ref) => store.get(ref),
    list: (namespace) => store.list(namespace),
    write: (ref, change) =>
      store.write(ref, (current) => {
        check(current);
        return change(current);
      }),
    remove: (ref) => store.remove(ref),
    watch: (observer) => store.watch(observer),
  };
}
