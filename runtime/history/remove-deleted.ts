import type { NamespaceEntry, NamespaceStore } from "../core/ports/namespace-store.ts";
import type { Log } from "../process/log.ts";
import { pauseFor } from "../process/pause-for.ts";

/** What is known of namespaces. */
export interface NamespaceFacts {
  /** All but the default one; undefined: which there are is not known, and none counts as deleted. */
  readonly namespaces: Pick<NamespaceStore, "list"> | undefined;
  /** It is never deleted. */
  readonly defaultNamespace: string;
}

export interface RemoveDeletedParts extends NamespaceFacts {
  /** Namespaces of which something is kept. */
  readonly kept: () => Promise<readonly string[]>;
  readonly remove: (namespace: string) => Promise<void>;
  readonly log: Log;
  /** Milliseconds between two looks (15 s). */
  readonly period?: number;
}

const lookEvery = 15_000;

/** Removes what is kept of namespaces that were deleted, until `stop` aborts. Never rejects. */
export async function removeDeleted(parts: RemoveDeletedParts, stop: AbortSignal): Promise<void> {
  const { kept, remove, namespaces, defaultNamespace, log, period = lookEvery } = parts;
  /** When each namespace was created, as it was seen last: another one of its name has nothing of it. */
  let created: ReadonlyMap<string, string> = new Map();
  if (namespaces === undefined) return;
  while (!stop.aborted) {
    try {
      const known = await kept();
      const there = new Map<string, NamespaceEntry>((await namespaces.list()).map((entry) => [entry.name, entry]));
      for (const namespace of known) {
        const entry = there.get(namespace);
        const before = created.get(namespace);
        const isOther = before !== undefined && before !== entry?.createdAt;
        const isGone = entry === undefined || entry.deleting || isOther;
        if (isGone && namespace !== defaultNamespace) await remove(namespace);
      }
      created = new Map([...there.values()].map(({ name, createdAt }) => [name, createdAt]));
    } catch (err) {
      log.debug({ err }, "cannot look for deleted namespaces");
    }
    await pauseFor(period, stop);
  }
}
