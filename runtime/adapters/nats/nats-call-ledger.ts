import { setTimeout as pause } from "node:timers/promises";

import { PlatformError } from "../../api/platform-error.ts";
import type { UnstampedEntry } from "../../core/call-entry.ts";
import type { RecordLifetime } from "../../core/call-ttl.ts";
import type { CallLedger, CreateOutcome, LedgerEntry, StoredResult } from "../../core/ports/call-ledger.ts";
import { CallRecordReader, operationHeader, parseRecord, recordStream } from "./call-record-reader.ts";
import { isOvertaken, publishDurably, type PublishOutcome } from "./durable-publish.ts";
import type { NatsLink } from "./nats-link.ts";
import { putOutcome } from "./put-outcome.ts";
import { readLast, writeHeaders, type LastMessage } from "./read-last.ts";
import { readResult, removeResult, writeResult } from "./result-entries.ts";
import { StreamFill } from "./stream-fill.ts";
import { bucket, keySubject } from "./stream-names.ts";

const updateBudget = 3_000;
const withdrawBudget = 60_000;
const markerTtl = 10_000;

/** Records in bucket `calls`, results in bucket `results`. */
export class NatsCallLedger implements CallLedger {
  readonly #link: NatsLink;
  readonly #lifetime: RecordLifetime;
  readonly #fill: StreamFill;
  readonly #records: CallRecordReader;

  constructor(link: NatsLink, lifetime: RecordLifetime) {
    this.#link = link;
    this.#lifetime = lifetime;
    this.#fill = new StreamFill(link, recordStream);
    this.#records = new CallRecordReader(link);
  }

  fill(): number {
    return this.#fill.share();
  }

  now(): number {
    return this.#records.now();
  }

  async create(id: string, entry: UnstampedEntry, until: number): Promise<CreateOutcome> {
    let expected = 0;
    // A marker of a withdrawn record counts as absent: the second round builds upon it.
    for (let round = 0; round < 3; round++) {
      const outcome = await this.#write(id, entry, expected, until);
      if (outcome.kind === "stored") return { kind: "created", revision: outcome.sequence };
      if (outcome.kind !== "refused" || !isOvertaken(outcome.refusal.code)) return notCreated(outcome);
      let last: LastMessage | undefined;
      try {
        last = await readLast(this.#link, recordStream, keySubject(bucket.calls, id), until);
      } catch (cause) {
        return { kind: "unknown", cause };
      }
      const found = last === undefined ? undefined : parseRecord(last);
      if (found !== undefined) return { kind: "exists", found };
      expected = last?.sequence ?? 0;
    }
    return { kind: "unknown", cause: new Error("the record does not come to rest") };
  }

  read(id: string): Promise<LedgerEntry | undefined> {
    return this.#records.read(id);
  }

  async update(id: string, entry: UnstampedEntry, revision: number): Promise<number | undefined> {
    const outcome = await this.#write(id, entry, revision, performance.now() + updateBudget);
    if (outcome.kind === "stored") return outcome.sequence;
    if (outcome.kind === "refused" && isOvertaken(outcome.refusal.code)) return undefined;
    const cause = outcome.kind === "refused" ? new Error(outcome.refusal.description) : outcome.cause;
    throw new PlatformError(
      "queue_unavailable",
      `Cannot write the record of call "${id}": the broker did not store it`,
      {
        cause,
        retryAfterSeconds: 1,
      },
    );
  }

  async withdraw(id: string, revision: number): Promise<void> {
    const headers = writeHeaders(markerTtl, revision);
    headers.add(operationHeader, "DEL");
    const end = performance.now() + withdrawBudget;
    while (performance.now() < end && !this.#link.nc.isClosed()) {
      const until = Math.min(end, performance.now() + updateBudget);
      const outcome = await publishDurably(this.#link, keySubject(bucket.calls, id), new Uint8Array(0), headers, until);
      if (outcome.kind === "stored" || outcome.kind === "refused") return;
      await pause(250, undefined, { ref: false });
    }
  }

  putResult(id: string, run: number, result: StoredResult, ttl: number): Promise<boolean> {
    return writeResult(this.#link, id, run, result, ttl);
  }

  readResult(id: string, run: number): Promise<StoredResult | undefined> {
    return readResult(this.#link, id, run);
  }

  removeResult(id: string, run: number): Promise<void> {
    return removeResult(this.#link, id, run);
  }

  #write(id: string, entry: UnstampedEntry, expected: number, until: number): Promise<PublishOutcome> {
    const ttl = this.#lifetime(entry, this.fill());
    const body = Buffer.from(JSON.stringify({ ...entry, expires: this.now() + ttl }));
    return publishDurably(this.#link, keySubject(bucket.calls, id), body, writeHeaders(ttl, expected), until);
  }
}

function notCreated(outcome: Exclude<PublishOutcome, { kind: "stored" }>): CreateOutcome {
  const meaning = putOutcome(outcome);
  if (meaning.kind === "stored") throw new TypeError("a stored record was taken for a refused one");
  if (meaning.kind === "unknown") return meaning;
  return { kind: "refused", because: meaning.because === "full" ? "full" : "unavailable", cause: meaning.cause };
}
