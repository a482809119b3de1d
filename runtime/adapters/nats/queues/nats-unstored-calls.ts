import { AckPolicy, DeliverPolicy, type JsMsg } from "@nats-io/jetstream";
import { nuid } from "@nats-io/transport-node";

import { parseCallId } from "../../../api/grammar.ts";
import { PlatformError } from "../../../api/platform-error.ts";
import { parseCallEntry, type CallEntry } from "../../../core/calls/call-entry.ts";
import type { QueueDeclaration } from "../../../core/ports/queue-catalog.ts";
import type { UnstoredCall, UnstoredCalls } from "../../../core/ports/unstored-calls.ts";
import { isApiError, streamNotFound } from "../link/api-errors.ts";
import { BrokerClock } from "../link/broker-clock.ts";
import type { NatsLink } from "../link/nats-link.ts";
import { readFrom, readLast } from "../link/read-last.ts";
import { operationHeader, recordStream } from "../records/call-record-reader.ts";
import { bucket, deadLetterStream, deadLetterSubject, keySubject, queueStream } from "../stream-names.ts";
import { messageHeader } from "./call-message.ts";

/** Records read, and time for the entries of one queue, in one check: a platform under load has other things to do. */
const recordsAtOnce = 20_000;
const batchSize = 500;
const batchTimeout = 2_000;
const scanTime = 2_000;
/** Nanoseconds after which the broker removes the consumer of a process that is gone. */
const inactiveThreshold = 30 * 1_000_000_000;
/** Milliseconds beyond a lease for which a call may still be on its way into its queue. */
const acceptanceTime = 15_000;
/** The state is the second field of every record. */
const openState = /"state":"(?:queued|running|waiting)"/;
const stateWithin = 64;

interface Candidate {
  readonly revision: number;
  readonly queue: string;
}

/** A walk through all entries that a queue held when it began. */
interface Scan {
  /** Calls that were not met yet, and the revisions of their records. */
  readonly sought: Map<string, number>;
  readonly last: number;
  next: number;
}

/**
 * Reads each record once after it has been the same for a lease, and those of open calls against the entries of their
 * queue. A queue is walked through entry by entry, as it allows no second reader.
 */
export class NatsUnstoredCalls implements UnstoredCalls {
  readonly #link: NatsLink;
  readonly #clock: BrokerClock;
  readonly #onItsWay: number;
  /** Sequence of the last record that was read. */
  #read = 0;
  #candidates = new Map<string, Candidate>();
  #scans = new Map<string, Scan>();

  /** `onItsWay`: milliseconds beyond a lease for which a call may still be on its way into its queue. */
  constructor(link: NatsLink, onItsWay = acceptanceTime) {
    this.#link = link;
    this.#clock = new BrokerClock(link, recordStream);
    this.#onItsWay = onItsWay;
  }

  restart(): void {
    this.#read = 0;
    this.#candidates = new Map();
    this.#scans = new Map();
  }

  async find(queues: readonly QueueDeclaration[]): Promise<readonly UnstoredCall[]> {
    try {
      const lease = Math.max(0, ...queues.map(({ ackWait }) => ackWait));
      await this.#readRecords(lease + this.#onItsWay);
      const found: UnstoredCall[] = [];
      for (const queue of new Set([...this.#candidates.values()].map((each) => each.queue)))
        found.push(...(await this.#notIn(queue)));
      return found;
    } catch (cause) {
      if (cause instanceof PlatformError) throw cause;
      const why = cause instanceof Error ? cause.message : String(cause);
      throw new PlatformError("queue_unavailable", `Cannot compare the records with the queues: ${why}`, { cause });
    }
  }

  /** Reads on, up to the first record that is younger than `age` milliseconds. */
  async #readRecords(age: number): Promise<void> {
    const { jsm, js } = this.#link;
    const { state } = await jsm.streams.info(recordStream);
    if (state.last_seq <= this.#read) return;
    await this.#clock.known();
    const { name, num_pending: pending } = await jsm.consumers.add(recordStream, {
      ack_policy: AckPolicy.None,
      mem_storage: true,
      num_replicas: 1,
      inactive_threshold: inactiveThreshold,
      name: `doctor-${nuid.next()}`,
      deliver_policy: DeliverPolicy.StartSequence,
      opt_start_seq: this.#read + 1,
    });
    try {
      const consumer = await js.consumers.get(recordStream, name);
      let left = Math.min(pending, recordsAtOnce);
      while (left > 0) {
        const before = this.#read;
        const batch = await consumer.fetch({ max_messages: Math.min(left, batchSize), expires: batchTimeout });
        for await (const message of batch) {
          left -= 1;
          if (this.#clock.now() - timeOf(message) < age) return;
          this.#read = message.seq;
          this.#consider(message);
        }
        if (this.#read === before) return;
      }
    } finally {
      await jsm.consumers.delete(recordStream, name).catch(() => false);
    }
  }

  #consider(message: JsMsg): void {
    const id = parseCallId(message.subject.slice(keySubject(bucket.calls, "").length));
    if (id === undefined) return;
    this.#candidates.delete(id);
    // Most records are of calls that have ended: they are not parsed.
    const bytes = Buffer.from(message.data.buffer, message.data.byteOffset, message.data.byteLength);
    if (message.headers?.has(operationHeader) === true) return;
    if (!openState.test(bytes.subarray(0, stateWithin).toString("latin1"))) return;
    const entry = entryIn(bytes);
    if (entry !== undefined) this.#candidates.set(id, { revision: message.seq, queue: entry.queue });
  }

  /** Candidates that are not among the entries of their queue; empty while the walk through them goes on. */
  async #notIn(queue: string): Promise<readonly UnstoredCall[]> {
    const stream = queueStream(queue);
    const scan = this.#scans.get(queue) ?? (await this.#begin(queue, stream));
    if (scan === undefined) return [];
    const until = performance.now() + scanTime;
    while (scan.next <= scan.last && scan.sought.size > 0 && performance.now() < until) {
      const entry = await readFrom(this.#link, stream, scan.next);
      scan.next = entry === undefined ? Number.POSITIVE_INFINITY : entry.sequence + 1;
      const id = parseCallId(entry?.headers.get(messageHeader.call) ?? "");
      if (id === undefined) continue;
      // It is there: its record is looked at again when it changes.
      scan.sought.delete(id);
      this.#candidates.delete(id);
    }
    if (scan.next <= scan.last && scan.sought.size > 0) return [];
    this.#scans.delete(queue);
    const found: UnstoredCall[] = [];
    for (const [id, revision] of scan.sought) {
      if (this.#candidates.get(id)?.revision === revision) this.#candidates.delete(id);
      // A redrive that was interrupted: it is continued from the letter.
      const letter = await readLast(this.#link, deadLetterStream, deadLetterSubject(queue, id, "call"));
      if (letter === undefined) found.push({ id, queue, revision });
    }
    return found;
  }

  /** Undefined when the queue has no store: what is missing is then reported, and waits for its new one. */
  async #begin(queue: string, stream: string): Promise<Scan | undefined> {
    const sought = new Map<string, number>();
    for (const [id, candidate] of this.#candidates) if (candidate.queue === queue) sought.set(id, candidate.revision);
    try {
      const { state } = await this.#link.jsm.streams.info(stream);
      const scan = { sought, next: state.first_seq, last: state.messages === 0 ? 0 : state.last_seq };
      this.#scans.set(queue, scan);
      return scan;
    } catch (err) {
      if (isApiError(err, streamNotFound)) return undefined;
      throw err;
    }
  }
}

function timeOf(message: JsMsg): number {
  return Date.parse(message.timestamp);
}

function entryIn(bytes: Buffer): CallEntry | undefined {
  try {
    return parseCallEntry(bytes.toString("utf8"));
  } catch {
    return undefined;
  }
}
