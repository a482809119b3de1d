import { defaultQueue } from "../../api/names.ts";
import type { QueueDeclaration, QueueObserver } from "../ports/queue-catalog.ts";

/** The declared queues, as reported by the catalog's watch. */
export class QueueTable {
  readonly #queues = new Map<string, QueueDeclaration>();
  #synced = false;
  readonly observer: QueueObserver = {
    set: (queue) => void this.#queues.set(queue.name, queue),
    removed: (name) => void this.#queues.delete(name),
    synced: () => {
      this.#synced = true;
    },
  };

  /** Whether all declarations are known. That of the default queue always exists and is written last. */
  get isKnown(): boolean {
    return this.#synced && this.#queues.has(defaultQueue);
  }

  /** All of them, sorted by name. */
  list(): readonly QueueDeclaration[] {
    return [...this.#queues.values()].toSorted((a, b) => (a.name < b.name ? -1 : 1));
  }

  /** The declaration of a queue, or undefined when there is none of that name. */
  find(name: string): QueueDeclaration | undefined {
    return this.#queues.get(name);
  }
}
