import type { QueueStatus } from "../../../api/schemas/queue-status.ts";
import { knownQueues, showQueue, type QueueViewParts } from "../../../core/queues/queue-views.ts";
import { eventText } from "../../../core/watch/event-text.ts";
import type { PolledTopic } from "./polled-feed.ts";

/** Topic `queues`. */
export class QueuesTopic implements PolledTopic {
  readonly #on: string;
  readonly #parts: QueueViewParts;
  /** As last seen, with their text, by name. */
  #known: ReadonlyMap<string, { readonly queue: QueueStatus; readonly text: string }> = new Map();

  constructor(on: string, parts: QueueViewParts) {
    this.#on = on;
    this.#parts = parts;
  }

  async poll(): Promise<string | undefined> {
    const declared = knownQueues(this.#parts.table);
    const queues = await Promise.all(declared.map((queue) => showQueue(this.#parts, queue)));
    const before = this.#known;
    this.#known = new Map(queues.map((queue) => [queue.name, { queue, text: JSON.stringify(queue) }]));
    const changed = queues.filter(({ name }) => before.get(name)?.text !== this.#known.get(name)?.text);
    const removed = [...before.keys()].filter((name) => !this.#known.has(name));
    if (changed.length === 0 && removed.length === 0) return undefined;
    return eventText("queues", { on: this.#on, begin: false, queues: changed, removed });
  }

  begin(): string {
    const queues = [...this.#known.values()].map(({ queue }) => queue);
    return eventText("queues", { on: this.#on, begin: true, queues, removed: [] });
  }
}
