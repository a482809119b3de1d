import {
  isSameSession,
  type Session,
  type SessionObserver,
  type SessionStore,
} from "../../../core/ports/session-store.ts";
import type { NatsLink } from "../link/nats-link.ts";
import { bucket } from "../stream-names.ts";
import { JsonBucket } from "./bucket-json.ts";
import { watchBucket } from "./bucket-watch.ts";

/** Sessions in bucket `sessions`, whose entries the broker removes when their time is over. */
export class NatsSessionStore implements SessionStore {
  readonly #link: NatsLink;
  readonly #bucket: JsonBucket<Session>;

  constructor(link: NatsLink) {
    this.#link = link;
    this.#bucket = new JsonBucket(link, bucket.sessions);
  }

  create(key: string, session: Session): Promise<void> {
    return this.#bucket.put(key, session);
  }

  async get(key: string): Promise<Session | undefined> {
    return (await this.#bucket.get(key))?.value;
  }

  async replace(key: string, before: Session, after: Session): Promise<boolean> {
    const found = await this.#bucket.get(key);
    if (found === undefined || !isSameSession(found.value, before)) return false;
    return this.#bucket.store(key, after, found.revision);
  }

  async remove(key: string): Promise<void> {
    if ((await this.#bucket.get(key)) !== undefined) await this.#bucket.remove(key);
  }

  watch(observer: SessionObserver): Promise<() => void> {
    return watchBucket(this.#link, this.#bucket, "*", {
      set: (key, session) => observer.set(key, session),
      removed: (key) => observer.removed(key),
      synced: () => {},
    });
  }

  awayFor(): number {
    return this.#link.downFor();
  }
}
