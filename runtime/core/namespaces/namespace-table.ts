import { setTimeout as pause } from "node:timers/promises";

import type { NamespaceEntry, NamespaceObserver } from "../ports/namespace-store.ts";

type Listener = (name: string) => void;

/** The namespaces as the store's watch tells them. */
export class NamespaceTable {
  /** Give it to `NamespaceStore.watch`. */
  readonly observer: NamespaceObserver;
  readonly #entries = new Map<string, NamespaceEntry>();
  readonly #listeners = new Set<Listener>();

  constructor() {
    this.observer = {
      set: (entry) => {
        const before = this.#entries.get(entry.name);
        this.#entries.set(entry.name, entry);
        // All are told again after the source was lost.
        if (before?.createdAt !== entry.createdAt || before.deleting !== entry.deleting) this.#tell(entry.name);
      },
      removed: (name) => {
        if (this.#entries.delete(name)) this.#tell(name);
      },
      synced: () => {},
    };
  }

  /** The namespace, unless it is being deleted. */
  find(name: string): NamespaceEntry | undefined {
    const entry = this.#entries.get(name);
    return entry?.deleting === true ? undefined : entry;
  }

  /** Those that are not being deleted, in no order. */
  names(): string[] {
    return this.#names(false);
  }

  /** Those that are being deleted, in no order. */
  deleting(): string[] {
    return this.#names(true);
  }

  isDeleting(name: string): boolean {
    return this.#entries.get(name)?.deleting === true;
  }

  /** Calls `listener` with the name of each namespace that comes, is being deleted or goes; the returned function ends that. */
  onChange(listener: Listener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Resolves when the watch has told what makes `holds` true, at the latest after `within` milliseconds. */
  async until(holds: () => boolean, within = 2_000): Promise<void> {
    if (holds()) return;
    const over = new AbortController();
    const forget = this.onChange(() => {
      if (holds()) over.abort();
    });
    await pause(within, undefined, { signal: over.signal }).catch(() => {});
    forget();
  }

  #names(deleting: boolean): string[] {
    return [...this.#entries.values()].filter((entry) => entry.deleting === deleting).map(({ name }) => name);
  }

  #tell(name: string): void {
    for (const listener of this.#listeners) listener(name);
  }
}
