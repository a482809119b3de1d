import type { NamespaceEntry, NamespaceObserver, NamespaceStore } from "../../../runtime/core/ports/namespace-store.ts";

/** Keeps namespaces in this process; observers are called before a write resolves. */
export class MemoryNamespaceStore implements NamespaceStore {
  readonly #entries = new Map<string, NamespaceEntry>();
  readonly #observers = new Set<NamespaceObserver>();

  async get(name: string): Promise<NamespaceEntry | undefined> {
    return this.#entries.get(name);
  }

  async list(): Promise<readonly NamespaceEntry[]> {
    return [...this.#entries.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  async write(name: string, change: (current: NamespaceEntry | undefined) => NamespaceEntry): Promise<NamespaceEntry> {
    const entry = structuredClone(change(this.#entries.get(name)));
    this.#entries.set(name, entry);
    for (const observer of this.#observers) observer.set(entry);
    return entry;
  }

  async remove(name: string): Promise<void> {
    if (!this.#entries.delete(name)) return;
    for (const observer of this.#observers) observer.removed(name);
  }

  async watch(observer: NamespaceObserver): Promise<() => void> {
    for (const entry of this.#entries.values()) observer.set(entry);
    observer.synced();
    this.#observers.add(observer);
    return () => this.#observers.delete(observer);
  }
}
