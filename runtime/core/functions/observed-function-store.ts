import type { FunctionObserver, FunctionStore } from "../ports/function-store.ts";
import { functionStoreWith } from "./function-store-with.ts";

/**
 * A store that shows its own writes to an observer before they resolve, without waiting for the watch: a client that
 * was told of a deployment may call the function at once.
 */
export function observedFunctionStore(inner: FunctionStore, observer: FunctionObserver): FunctionStore {
  return functionStoreWith(inner, {
    write: async (ref, change) => {
      const written = await inner.write(ref, change);
      observer.set(written);
      return written;
    },
    remove: async (ref) => {
      const removed = await inner.remove(ref);
      observer.removed(ref);
      return removed;
    },
  });
}
