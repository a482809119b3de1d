import { setTimeout as pause } from "node:timers/promises";

import type { NamespaceEntry, NamespaceObserver } from "../ports/namespace-store.ts";

type Listener = (name: string) => void;

/** The namespaces, as reported by the store's watch. */
export class NamespaceTable {
  /** To be passed to `NamespaceStore.watch`. */
  readonly observer: NamespaceObserver;
  readonly #entries = new Map<string, NamespaceEntry>();
  readonly #listeners = new Set<Listener>();

  constructor() {
    this.observer = {
      set: (entry) => {
        const before = this.#entries.get(entry.name);
        this.#entries.set(entry.name, entry);
        // The watch reports all again after the source was lost.
        if (before?.createdAt !== entry.createdAt || before.deleting !== entry.deleting) this.#notify(entry.name);
      },
      removed: (name) => {
        if (this.#entries.delete(name)) this.#notify(name);
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

  /**
   * Calls `listener` with the name of each namespace that is created, is being deleted or is gone; the returned
   * function unsubscribes.
   */
  onChange(listener: Listener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Resolves when the watch has reported what makes `holds` true, at the latest after `within` milliseconds. */
  async until(holds: () => boolean, within = 2_000): Promise<void> {
    if (holds()) return;
    const satisfied = new AbortController();
    const unsubscribe = this.onChange(() => {
      if (holds()) satisfied.abort();
    });
    await pause(within, undefined, { signal: satisfied.signal }).catch(() => {});
    unsubscribe();
  }

  #names(deleting: boolean): string[] {
    return [...this.#entries.values()].filter((entry) => entry.deleting === deleting).map(({ name }) => name);
  }

  #notify(name: string): void {
    for (const listener of this.#listeners) listener(name);
  }
}
