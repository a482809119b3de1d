import { JetStreamApiError } from "@nats-io/jetstream";
import { Kvm, type KV } from "@nats-io/kv";

import { PlatformError } from "../../api/platform-error.ts";
import { listBucket } from "./bucket-list.ts";
import { isOvertaken } from "./durable-publish.ts";
import type { NatsLink } from "./nats-link.ts";
import { bucketStream, keySubject } from "./stream-names.ts";

/** A value of a bucket. */
export interface BucketValue<T> {
  readonly key: string;
  readonly value: T;
  readonly revision: number;
}

const mostRaces = 20;

/** One bucket of JSON values. Everything rejects with `provider_unavailable` when the broker does not answer. */
export class JsonBucket<T> {
  readonly kv: KV;
  readonly #link: NatsLink;
  readonly #name: string;

  private constructor(link: NatsLink, name: string, kv: KV) {
    this.#link = link;
    this.#name = name;
    this.kv = kv;
  }

  /** The bucket must be there: only the doctor makes buckets. */
  static async open<T>(link: NatsLink, name: string): Promise<JsonBucket<T>> {
    return reachable(name, async () => new JsonBucket<T>(link, name, await new Kvm(link.js).open(name)));
  }

  /** The value of `key`, or undefined when there is none or it was removed. */
  get(key: string): Promise<BucketValue<T> | undefined> {
    return reachable(this.#name, async () => {
      const entry = await this.kv.get(key);
      if (entry === null || entry.operation !== "PUT") return undefined;
      return { key, value: entry.json<T>(), revision: entry.revision };
    });
  }

  /** All values whose keys match `filter` (`*` = one part, `>` = the rest), in no order. */
  list(filter: string): Promise<T[]> {
    return reachable(this.#name, async () => {
      const found = await listBucket(this.#link, this.#name, filter);
      return found.map((last) => last.json<T>());
    });
  }

  /** Stores `value` if the key is still at `revision` (undefined: not there); false when another was faster. */
  store(key: string, value: T, revision: number | undefined): Promise<boolean> {
    return reachable(this.#name, async () => {
      try {
        const text = JSON.stringify(value);
        if (revision === undefined) await this.kv.create(key, text);
        else await this.kv.update(key, text, revision);
        return true;
      } catch (err) {
        if (err instanceof JetStreamApiError && isOvertaken(err.code)) return false;
        throw err;
      }
    });
  }

  /**
   * Reads, asks `change` and stores what it returns if nobody wrote in between, else again; what is returned unchanged is
   * not stored.
   * @throws PlatformError `provider_unavailable` after 20 races lost
   */
  async change(key: string, change: (current: T | undefined) => T): Promise<T> {
    for (let race = 0; race < mostRaces; race++) {
      const current = await this.get(key);
      const wanted = change(current?.value);
      if (wanted === current?.value || (await this.store(key, wanted, current?.revision))) return wanted;
    }
    throw new PlatformError(
      "provider_unavailable",
      `Cannot write "${key}" in store "${this.#name}": others write it all the time`,
      { retryAfterSeconds: 1 },
    );
  }

  /** Stores `value` whatever is there. */
  put(key: string, value: T): Promise<void> {
    return reachable(this.#name, async () => {
      await this.kv.put(key, JSON.stringify(value));
    });
  }

  /** Leaves a marker in place of the value, so that watchers hear of it. */
  remove(key: string): Promise<void> {
    return reachable(this.#name, () => this.kv.delete(key));
  }

  /** Whether nothing at all lies under keys that match `filter`, markers included. */
  isEmpty(filter: string): Promise<boolean> {
    return reachable(this.#name, async () => {
      const options = { subjects_filter: keySubject(this.#name, filter) };
      const { state } = await this.#link.jsm.streams.info(bucketStream(this.#name), options);
      return Object.keys(state.subjects ?? {}).length === 0;
    });
  }
}

async function reachable<R>(name: string, act: () => Promise<R>): Promise<R> {
  try {
    return await act();
  } catch (cause) {
    if (cause instanceof PlatformError) throw cause;
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new PlatformError(
      "provider_unavailable",
      `Cannot use store "${name}": ${why === "" ? "the broker does not answer" : why}`,
      {
        cause,
        retryAfterSeconds: 1,
      },
    );
  }
}
