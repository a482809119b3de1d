import { setTimeout as pause } from "node:timers/promises";

import type { StreamPosition } from "../../../core/ports/call-history.ts";
import type { RecordBatch, RecordChanges } from "../../../core/ports/record-changes.ts";
import { BrokerClock } from "../link/broker-clock.ts";
import type { NatsLink } from "../link/nats-link.ts";
import { readLast } from "../link/read-last.ts";
import { recordStream } from "../records/call-record-reader.ts";
import { bucket, keySubject } from "../stream-names.ts";
import { batchOf } from "./record-batch.ts";
import { createRecordConsumer, type RecordConsumer } from "./record-consumer.ts";
import { RecordTail } from "./record-tail.ts";
import { readServerStart } from "./server-start.ts";

export interface NatsRecordChangesOptions {
  readonly inboxPrefix: string;
  /** Monitoring address of the broker's only server, where it says since when it runs. */
  readonly monitorUrl?: string | undefined;
  /** Milliseconds without a change after which a batch says so; 5 s when absent. */
  readonly expiry?: number;
}

const maxBatch = 1_000;
const gatherFor = 200;
const defaultExpiry = 5_000;
const retryPause = { first: 250, longest: 5_000 };
/** Records that are looked up at the same time. */
const lookups = 10;

/** The changes in the stream of bucket `calls`, by a consumer that lasts as long as it is read. */
export class NatsRecordChanges implements RecordChanges {
  readonly #link: NatsLink;
  readonly #options: NatsRecordChangesOptions;
  readonly #clock: BrokerClock;

  constructor(link: NatsLink, options: NatsRecordChangesOptions) {
    this.#link = link;
    this.#options = options;
    this.#clock = new BrokerClock(link, recordStream);
  }

  now(): number {
    return this.#clock.now();
  }

  async *follow(after: StreamPosition | undefined, signal: AbortSignal): AsyncGenerator<RecordBatch, void> {
    let position = after;
    while (!signal.aborted) {
      const consumer = await this.#consume(position, signal);
      if (consumer === undefined) return;
      for await (const batch of this.#read(consumer, signal)) {
        position = batch.position;
        yield batch;
      }
      await pause(retryPause.first, undefined, { signal }).catch(() => {});
    }
  }

  async withoutRecord(ids: readonly string[]): Promise<readonly string[]> {
    const gone: string[] = [];
    for (let from = 0; from < ids.length; from += lookups) {
      const some = ids.slice(from, from + lookups);
      const found = await Promise.all(
        some.map((id) => readLast(this.#link, recordStream, keySubject(bucket.calls, id))),
      );
      gone.push(...some.filter((_id, index) => found[index] === undefined));
    }
    return gone;
  }

  /** Tries until the broker creates a consumer; undefined when `signal` aborts. */
  async #consume(after: StreamPosition | undefined, signal: AbortSignal): Promise<RecordConsumer | undefined> {
    for (let wait = retryPause.first; !signal.aborted; wait = Math.min(2 * wait, retryPause.longest)) {
      try {
        if (this.#link.downFor() === 0) {
          await this.#clock.known();
          return await createRecordConsumer(this.#link, after);
        }
      } catch {
        // The connection reports that the broker is away; the queue-doctor that the stream is missing.
      }
      await pause(wait, undefined, { signal }).catch(() => {});
    }
    return undefined;
  }

  /** The batches of one consumer, until it is lost. */
  async *#read(consumer: RecordConsumer, signal: AbortSignal): AsyncGenerator<RecordBatch, void> {
    const { inboxPrefix, monitorUrl, expiry = defaultExpiry } = this.#options;
    const { name, start, pending, lastSequence } = consumer;
    const place = { link: this.#link, stream: recordStream, consumer: name, inboxPrefix };
    const tail = new RecordTail({ ...place, maxBatch, gatherFor, expiry });
    try {
      const quietUntil = await readServerStart(monitorUrl);
      let first: Pick<RecordBatch, "isFirst" | "quietUntil"> = { isFirst: true, quietUntil };
      let before = start;
      if (pending === 0) {
        // Nothing is left of what came after the position.
        const readAt = this.now();
        before = { ...start, sequence: lastSequence, at: readAt };
        yield { ...empty, ...first, position: before, readAt, removed: lastSequence - start.sequence };
        first = following;
      }
      for (;;) {
        const read = await tail.read(signal);
        if (read.kind === "lost") return;
        const readAt = this.now();
        if (read.kind === "messages") {
          const batch = batchOf(read.messages, before);
          before = batch.position;
          yield { ...batch, ...first, readAt };
        } else {
          before = { ...before, at: Math.max(before.at, readAt - Math.ceil(performance.now() - read.since)) };
          yield { ...empty, ...first, position: before, readAt, removed: 0 };
        }
        first = following;
      }
    } finally {
      await tail.close();
      // Else the broker keeps it until it has been inactive for a while.
      if (this.#link.downFor() === 0) await this.#link.jsm.consumers.delete(recordStream, name).catch(() => {});
    }
  }
}

const following = { isFirst: false };
const empty = { changes: [], unreadable: 0, isLevel: true };
