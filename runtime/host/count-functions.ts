import type { FunctionStore } from "../core/ports/function-store.ts";
import type { NamespaceStore } from "../core/ports/namespace-store.ts";

/** Number of functions in all namespaces, including the default one even if it is not in the store. */
export async function countFunctions(
  functions: FunctionStore,
  namespaces: NamespaceStore,
  defaultNamespace: string,
): Promise<number> {
  const names = new Set([defaultNamespace, ...(await namespaces.list()).map(({ name }) => name)]);
  const lists = await Promise.all([...names].map((name) => functions.list(name)));
  return lists.reduce((sum, list) => sum + list.length, 0);
}
