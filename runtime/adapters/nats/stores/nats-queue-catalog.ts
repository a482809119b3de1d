import { isQueueName } from "../../../api/grammar.ts";
import type { QueueCatalog, QueueDeclaration, QueueObserver } from "../../../core/ports/queue-catalog.ts";
import { JsonBucket } from "./bucket-json.ts";
import { watchBucket } from "./bucket-watch.ts";
import type { NatsLink } from "../link/nats-link.ts";
import { bucket } from "../stream-names.ts";

/** Declared queues in bucket `queues`. Leases share the bucket, under keys that are not valid queue names. */
export class NatsQueueCatalog implements QueueCatalog {
  readonly #link: NatsLink;
  readonly #bucket: JsonBucket<QueueDeclaration>;

  constructor(link: NatsLink) {
    this.#link = link;
    this.#bucket = new JsonBucket(link, bucket.queues);
  }

  watch(observer: QueueObserver): Promise<() => void> {
    return watchBucket(this.#link, this.#bucket, "*", {
      set: (_key, queue) => observer.set(queue),
      removed: (name) => observer.removed(name),
      synced: () => observer.synced(),
    });
  }

  async get(name: string): Promise<QueueDeclaration | undefined> {
    return isQueueName(name) ? (await this.#bucket.get(name))?.value : undefined;
  }

  async list(): Promise<readonly QueueDeclaration[]> {
    const found = await this.#bucket.list("*");
    return found.sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  put(queue: QueueDeclaration): Promise<void> {
    return this.#bucket.put(queue.name, queue);
  }

  remove(name: string): Promise<void> {
    return this.#bucket.remove(name);
  }
}
