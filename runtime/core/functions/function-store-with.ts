import type { FunctionStore } from "../ports/function-store.ts";

/** `inner` with some of its methods replaced. */
export function functionStoreWith(inner: FunctionStore, over: Partial<FunctionStore>): FunctionStore {
  return {
    get: (ref) => inner.get(ref),
    list: (namespace) => inner.list(namespace),
    write: (ref, change) => inner.write(ref, change),
    remove: (ref) => inner.remove(ref),
    watch: (observer) => inner.watch(observer),
    ...over,
  };
}
