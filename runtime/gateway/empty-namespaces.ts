import type { FunctionTable } from "../core/replicas/function-table.ts";
import type { NamespaceTable } from "../core/namespaces/namespace-table.ts";
import type { FunctionStore } from "../core/ports/function-store.ts";
import type { KeptRequests } from "../core/ports/kept-requests.ts";
import type { Log } from "../process/log.ts";

export interface EmptyNamespacesParts {
  readonly namespaces: NamespaceTable;
  readonly table: FunctionTable;
  readonly functions: FunctionStore;
  readonly requests: Pick<KeptRequests, "removeNamespace">;
  readonly log: Log;
  /** Milliseconds until a retry after the store failed. */
  readonly retry?: number;
}

/**
 * Deletes the functions of every namespace that is being deleted, no matter which process marked it and when, and
 * functions that are still written there afterwards; and the requests that were kept of their calls. The returned
 * function ends that.
 */
export function emptyNamespaces({
  namespaces,
  table,
  functions,
  requests,
  log,
  retry = 1_000,
}: EmptyNamespacesParts): () => void {
  const pending = new Set<string>();
  let last = Promise.resolve();
  let ended = false;

  const empty = async (name: string): Promise<void> => {
    pending.delete(name);
    if (ended) return;
    try {
      for (const desired of await functions.list(name)) await functions.remove({ namespace: name, name: desired.name });
      // Queue-workers keep none of a function that is gone.
      await requests.removeNamespace(name);
    } catch (err) {
      if (ended) return;
      log.warn({ err, namespace: name }, "cannot empty a deleted namespace, trying again");
      setTimeout(() => check(name), retry).unref();
    }
  };
  const check = (name: string): void => {
    if (pending.has(name) || !namespaces.isDeleting(name)) return;
    pending.add(name);
    last = last.then(() => empty(name));
  };
  const unsubscribe = namespaces.onChange(check);
  table.onWanted(({ ref }) => check(ref.namespace));
  for (const name of namespaces.deleting()) check(name);

  return () => {
    ended = true;
    unsubscribe();
  };
}
