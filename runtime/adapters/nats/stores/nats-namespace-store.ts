import { isNamespaceName } from "../../../api/grammar.ts";
import type { NamespaceEntry, NamespaceObserver, NamespaceStore } from "../../../core/ports/namespace-store.ts";
import { JsonBucket } from "./bucket-json.ts";
import { watchBucket } from "./bucket-watch.ts";
import type { NatsLink } from "../link/nats-link.ts";
import { bucket } from "../stream-names.ts";

/** Namespaces in bucket `namespaces`, their store on one machine. */
export class NatsNamespaceStore implements NamespaceStore {
  readonly #link: NatsLink;
  readonly #bucket: JsonBucket<NamespaceEntry>;

  constructor(link: NatsLink) {
    this.#link = link;
    this.#bucket = new JsonBucket(link, bucket.namespaces);
  }

  async get(name: string): Promise<NamespaceEntry | undefined> {
    return isNamespaceName(name) ? (await this.#bucket.get(name))?.value : undefined;
  }

  async list(): Promise<readonly NamespaceEntry[]> {
    const found = await this.#bucket.list("*");
    return found.sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  write(name: string, change: (current: NamespaceEntry | undefined) => NamespaceEntry): Promise<NamespaceEntry> {
    return this.#bucket.change(name, change);
  }

  async remove(name: string): Promise<void> {
    if ((await this.#bucket.get(name)) !== undefined) await this.#bucket.remove(name);
  }

  watch(observer: NamespaceObserver): Promise<() => void> {
    return watchBucket(this.#link, this.#bucket, "*", {
      set: (_name, entry) => observer.set(entry),
      removed: (name) => observer.removed(name),
      synced: () => observer.synced(),
    });
  }
}
