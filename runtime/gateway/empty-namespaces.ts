import type { FunctionTable } from "../core/replicas/function-table.ts";
import type { NamespaceTable } from "../core/namespaces/namespace-table.ts";
import type { FunctionStore } from "../core/ports/function-store.ts";
import type { Log } from "../process/log.ts";

/** What is emptied, and how it is known. */
export interface EmptyNamespacesParts {
  readonly namespaces: NamespaceTable;
  readonly table: FunctionTable;
  readonly functions: FunctionStore;
  readonly log: Log;
  /** Milliseconds until the next try when the store did not answer. */
  readonly retry?: number;
}

/**
 * Deletes the functions of every namespace that is being deleted, whoever marked it and when, and functions that were
 * written there a moment too late. The returned function ends that.
 */
export function emptyNamespaces({
  namespaces,
  table,
  functions,
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
      for (const wanted of await functions.list(name)) await functions.remove({ namespace: name, name: wanted.name });
    } catch (err) {
      if (ended) return;
      log.warn({ err, namespace: name }, "cannot delete the functions of a deleted namespace, trying again");
      setTimeout(() => look(name), retry).unref();
    }
  };
  const look = (name: string): void => {
    if (pending.has(name) || !namespaces.isDeleting(name)) return;
    pending.add(name);
    last = last.then(() => empty(name));
  };
  const unhear = namespaces.onChange(look);
  table.onWanted(({ ref }) => look(ref.namespace));
  for (const name of namespaces.deleting()) look(name);

  return () => {
    ended = true;
    unhear();
  };
}
