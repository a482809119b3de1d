import type { FunctionStore } from "../core/ports/function-store.ts";
import type { NamespaceStore } from "../core/ports/namespace-store.ts";
import type { Replicas } from "../core/ports/replicas.ts";
import type { SecretStore } from "../core/ports/secret-store.ts";
import type { Log } from "../process/log.ts";

/** What the removal depends on. */
export interface RemoveNamespacesParts {
  readonly namespaces: NamespaceStore;
  readonly functions: FunctionStore;
  readonly replicas: Replicas;
  readonly secrets: SecretStore;
  /** Whether anything of a function of the namespace is still to be removed. */
  readonly isBusy: (namespace: string) => boolean;
  readonly log: Log;
}

/** Namespaces that are being removed. */
export interface NamespaceRemoval {
  /** Checks a namespace again: less of it may be left now. */
  look(namespace: string): void;
  /** Starts nothing more; resolves when the last step has ended. */
  close(): Promise<void>;
}

/** Milliseconds after which a failed removal is retried. */
const retry = 1_000;

/**
 * Removes each namespace that is marked, once nothing of its functions is left: its content first, its entry last, so
 * that the next process completes what one that ends between two steps began. Resolves when all marked ones are known.
 */
export async function removeNamespaces(parts: RemoveNamespacesParts): Promise<NamespaceRemoval> {
  const { namespaces, functions, replicas, secrets, isBusy, log } = parts;
  const marked = new Set<string>();
  const pending = new Set<string>();
  const timers = new Map<string, NodeJS.Timeout>();
  let last = Promise.resolve();
  let closed = false;

  const isEmpty = async (name: string): Promise<boolean> => !isBusy(name) && (await functions.list(name)).length === 0;
  const remove = async (name: string): Promise<boolean> => {
    if (!(await isEmpty(name))) return false;
    await replicas.forgetNamespace(name);
    await secrets.removeAll(name);
    // A function may have been deployed meanwhile.
    if (!(await isEmpty(name))) return false;
    await namespaces.remove(name);
    return true;
  };
  const step = async (name: string): Promise<void> => {
    pending.delete(name);
    if (closed || !marked.has(name)) return;
    const removed = await remove(name).catch((err: unknown) => {
      if (!closed) log.warn({ err, namespace: name }, "cannot remove namespace, trying again");
      return false;
    });
    if (removed || closed) return;
    clearTimeout(timers.get(name));
    timers.set(
      name,
      setTimeout(() => look(name), retry),
    );
  };
  const look = (name: string): void => {
    if (closed || pending.has(name) || !marked.has(name)) return;
    pending.add(name);
    last = last.then(() => step(name));
  };
  const unmark = (name: string): void => {
    marked.delete(name);
    clearTimeout(timers.get(name));
    timers.delete(name);
  };
  const release = await namespaces.watch({
    set: ({ name, deleting }) => {
      if (!deleting) return unmark(name);
      marked.add(name);
      look(name);
    },
    removed: unmark,
    synced: () => {},
  });

  return {
    look,
    close: async () => {
      closed = true;
      release();
      for (const timer of timers.values()) clearTimeout(timer);
      await last;
    },
  };
}
