import { JetStreamApiError } from "@nats-io/jetstream";
import { Kvm, type KV, type KvWatchEntry } from "@nats-io/kv";
import type { QueuedIterator } from "@nats-io/transport-node";

import { PlatformError } from "../../../api/platform-error.ts";
import { listBucket } from "./bucket-list.ts";
import { isRevisionConflict } from "../link/durable-publish.ts";
import type { NatsLink } from "../link/nats-link.ts";
import { bucketStream, keySubject } from "../stream-names.ts";

/** A value of a bucket. */
export interface BucketValue<T> {
  readonly key: string;
  readonly value: T;
  readonly revision: number;
}

const maxRaces = 20;

/**
 * One bucket of JSON values, opened on first use: only the queue-doctor creates buckets. Every method rejects with
 * `provider_unavailable` when the broker does not reply or the bucket does not exist yet.
 */
export class JsonBucket<T> {
  readonly #link: NatsLink;
  readonly #name: string;
  #opened: KV | undefined;

  constructor(link: NatsLink, name: string) {
    this.#link = link;
    this.#name = name;
  }

  /** The value of `key`, or undefined when it was never set or was removed. */
  get(key: string): Promise<BucketValue<T> | undefined> {
    return reachable(this.#name, async () => {
      const entry = await (await this.#kv()).get(key);
      if (entry === null || entry.operation !== "PUT") return undefined;
      return { key, value: entry.json<T>(), revision: entry.revision };
    });
  }

  /** All values whose keys match `filter` (`*` = one part, `>` = the rest), in no particular order. */
  list(filter: string): Promise<T[]> {
    return reachable(this.#name, async () => {
      const found = await listBucket(this.#link, this.#name, filter);
      return found.map((last) => last.json<T>());
    });
  }

  /** Stores `value` if the key is still at `revision` (undefined: absent); false when it is not. */
  store(key: string, value: T, revision: number | undefined): Promise<boolean> {
    return reachable(this.#name, async () => {
      try {
        const text = JSON.stringify(value);
        const kv = await this.#kv();
        if (revision === undefined) await kv.create(key, text);
        else await kv.update(key, text, revision);
        return true;
      } catch (err) {
        if (err instanceof JetStreamApiError && isRevisionConflict(err.code)) return false;
        throw err;
      }
    });
  }

  /**
   * Reads the value, passes it to `change` and stores what that returns, unless it is unchanged. Starts over when the
   * key was written in between.
   * @throws PlatformError `provider_unavailable` after 20 lost races
   */
  async change(key: string, change: (current: T | undefined) => T): Promise<T> {
    for (let race = 0; race < maxRaces; race++) {
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

  /** Stores `value` unconditionally. */
  put(key: string, value: T): Promise<void> {
    return reachable(this.#name, async () => {
      await (await this.#kv()).put(key, JSON.stringify(value));
    });
  }

  /** Leaves a marker in place of the value, so that watchers learn of the removal. */
  remove(key: string): Promise<void> {
    return reachable(this.#name, async () => (await this.#kv()).delete(key));
  }

  /** All values whose keys match `filter`, markers included, then each change. */
  watch(filter: string): Promise<QueuedIterator<KvWatchEntry>> {
    return reachable(this.#name, async () => (await this.#kv()).watch({ key: filter }));
  }

  /** Whether no key matches `filter`; one with a removal marker counts as a match. */
  isEmpty(filter: string): Promise<boolean> {
    return reachable(this.#name, async () => {
      const options = { subjects_filter: keySubject(this.#name, filter) };
      const { state } = await this.#link.jsm.streams.info(bucketStream(this.#name), options);
      return Object.keys(state.subjects ?? {}).length === 0;
    });
  }

  async #kv(): Promise<KV> {
    this.#opened ??= await new Kvm(this.#link.js).open(this.#name);
    return this.#opened;
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
