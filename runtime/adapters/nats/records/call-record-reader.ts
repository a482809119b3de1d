import { parseCallEntry } from "../../../core/calls/call-entry.ts";
import type { CallLedger, LedgerEntry } from "../../../core/ports/call-ledger.ts";
import { BrokerClock } from "../link/broker-clock.ts";
import type { NatsLink } from "../link/nats-link.ts";
import { readLast, type LastMessage } from "../link/read-last.ts";
import { bucket, bucketStream, keySubject } from "../stream-names.ts";

/** Name of the header that marks a write to a bucket as something other than a value (NATS ADR-8). */
export const operationHeader = "KV-Operation";
/** Stream of the call records. */
export const recordStream = bucketStream(bucket.calls);

/** Reads call records, and the clock of the broker. */
export class CallRecordReader implements Pick<CallLedger, "read" | "now"> {
  readonly #link: NatsLink;
  readonly #clock: BrokerClock;

  constructor(link: NatsLink) {
    this.#link = link;
    this.#clock = new BrokerClock(link, recordStream);
  }

  now(): number {
    return this.#clock.now();
  }

  async read(id: string): Promise<LedgerEntry | undefined> {
    // Callers compare the record's times with this clock.
    await this.#clock.known();
    const last = await readLast(this.#link, recordStream, keySubject(bucket.calls, id));
    return last === undefined ? undefined : parseRecord(last);
  }
}

/** The record in a message of the bucket; undefined for a removal marker. */
export function parseRecord(last: LastMessage): LedgerEntry | undefined {
  // A marker of the client (KV-Operation) or of the broker (Nats-Marker-Reason).
  if (last.headers.has(operationHeader) || last.headers.has("Nats-Marker-Reason")) return undefined;
  return {
    entry: parseCallEntry(Buffer.from(last.body).toString("utf8")),
    revision: last.sequence,
    writtenAt: last.time,
  };
}
