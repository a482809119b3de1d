import type { QueueCatalog, QueueDeclaration, QueueObserver } from "../../../runtime/core/ports/queue-catalog.ts";

/** Keeps declared queues in this process; observers are called before a write resolves. */
export class MemoryQueueCatalog implements QueueCatalog {
  readonly #queues = new Map<string, QueueDeclaration>();
  readonly #observers = new Set<QueueObserver>();

  async watch(observer: QueueObserver): Promise<() => void> {
    for (const queue of this.#queues.values()) observer.set(queue);
    observer.synced();
    this.#observers.add(observer);
    return () => this.#observers.delete(observer);
  }

  async get(name: string): Promise<QueueDeclaration | undefined> {
    return this.#queues.get(name);
  }

  async list(): Promise<readonly QueueDeclaration[]> {
    return [...this.#queues.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  async put(queue: QueueDeclaration): Promise<void> {
    const copy = structuredClone(queue);
    this.#queues.set(queue.name, copy);
    for (const observer of this.#observers) observer.set(copy);
  }

  async remove(name: string): Promise<void> {
    if (!this.#queues.delete(name)) return;
    for (const observer of this.#observers) observer.removed(name);
  }
}
