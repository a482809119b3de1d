import { setTimeout as pause } from "node:timers/promises";

import type { UnstampedEntry } from "../../../core/calls/call-entry.ts";
import type { RecordLifetime } from "../../../core/calls/call-ttl.ts";
import type {
  CallLedger,
  CreateOutcome,
  LedgerEntry,
  StoredResult,
  UpdateOutcome,
} from "../../../core/ports/call-ledger.ts";
import type { Unavailable } from "../../../core/ports/call-queue.ts";
import { CallRecordReader, operationHeader, parseRecord, recordStream } from "./call-record-reader.ts";
import { isRevisionConflict, publishDurably } from "../link/durable-publish.ts";
import type { PublishOutcome } from "../link/publish-outcome.ts";
import type { NatsLink } from "../link/nats-link.ts";
import { putOutcome } from "../link/put-outcome.ts";
import { readLast, bucketWriteHeaders, type LastMessage } from "../link/read-last.ts";
import { readResult, removeResult, writeResult } from "./result-entries.ts";
import { RecordRoom } from "./record-room.ts";
import { bucket, keySubject } from "../stream-names.ts";

const updateBudget = 3_000;
const withdrawBudget = 60_000;
const markerTtl = 10_000;

/** A serialized record and its time to live in milliseconds. */
interface Stamped {
  readonly ttl: number;
  readonly body: Buffer;
}

type NotStored = Exclude<PublishOutcome, { kind: "stored" }>;
type NotWritten =
  | { readonly kind: "refused"; readonly because: "full"; readonly cause?: unknown }
  | Unavailable
  | Extract<CreateOutcome, { kind: "unknown" }>;

/** Records in bucket `calls`, results in bucket `results`. */
export class NatsCallLedger implements CallLedger {
  readonly #link: NatsLink;
  readonly #lifetime: RecordLifetime;
  readonly #room: RecordRoom;
  readonly #records: CallRecordReader;

  /** `accepts`: the process accepts calls (a gateway), so it must know how full the store is. */
  constructor(link: NatsLink, lifetime: RecordLifetime, { accepts }: { readonly accepts: boolean }) {
    this.#link = link;
    this.#lifetime = lifetime;
    this.#room = new RecordRoom(link, accepts);
    this.#records = new CallRecordReader(link);
  }

  fill(): number {
    return this.#room.fill();
  }

  now(): number {
    return this.#records.now();
  }

  async create(id: string, entry: UnstampedEntry, until: number, isAbandoned?: () => boolean): Promise<CreateOutcome> {
    const noRoom = this.#noRoom();
    if (noRoom !== undefined) {
      // A call that already has a record is accepted anyway.
      const found = await this.read(id).catch(() => undefined);
      return found === undefined ? noRoom : { kind: "exists", found };
    }
    const record = this.#stamped(entry);
    let expected = 0;
    // The marker of a withdrawn record counts as absent: the next round expects its revision.
    for (let round = 0; round < 3; round++) {
      const outcome = await this.#write(id, record, expected, until, isAbandoned);
      if (outcome.kind === "stored") {
        this.#room.added(record.body.byteLength);
        return { kind: "created", revision: outcome.sequence };
      }
      if (outcome.kind !== "refused" || !isRevisionConflict(outcome.refusal.code)) return this.#notCreated(outcome);
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
    return { kind: "unknown", cause: new Error("the record keeps changing") };
  }

  read(id: string): Promise<LedgerEntry | undefined> {
    return this.#records.read(id);
  }

  /** The refusal of a new record, decided before the write: existing records must have room to end. */
  #noRoom(): Extract<CreateOutcome, { kind: "refused" }> | undefined {
    if (this.#room.storeIsFull) return { kind: "refused", because: "store-full" };
    return this.fill() >= 1 ? { kind: "refused", because: "records-full" } : undefined;
  }

  async update(id: string, entry: UnstampedEntry, revision: number): Promise<UpdateOutcome> {
    const outcome = await this.#write(id, this.#stamped(entry), revision, performance.now() + updateBudget);
    if (outcome.kind === "stored") return { kind: "written", revision: outcome.sequence };
    if (outcome.kind === "refused" && isRevisionConflict(outcome.refusal.code)) return { kind: "conflict" };
    return this.#notWritten(outcome);
  }

  async withdraw(id: string, revision: number): Promise<void> {
    const headers = bucketWriteHeaders(markerTtl, revision);
    headers.add(operationHeader, "DEL");
    const end = performance.now() + withdrawBudget;
    while (performance.now() < end && !this.#link.isClosed) {
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

  #notCreated(outcome: NotStored): CreateOutcome {
    const meaning = this.#notWritten(outcome);
    if (meaning.kind === "unknown" || meaning.because === "unavailable") return meaning;
    return { kind: "refused", because: "records-full", cause: meaning.cause };
  }

  #notWritten(outcome: NotStored): NotWritten {
    const meaning = putOutcome(outcome, this.#link.state.kind);
    if (meaning.kind === "stored") throw new TypeError("a stored record was taken for a refused one");
    if (meaning.kind === "unknown" || meaning.because === "unavailable") return meaning;
    const { cause } = meaning;
    return { kind: "refused", because: meaning.because === "full" ? "full" : "unavailable", cause };
  }

  #stamped(entry: UnstampedEntry): Stamped {
    const ttl = this.#lifetime(entry, this.fill());
    return { ttl, body: Buffer.from(JSON.stringify({ ...entry, expires: this.now() + ttl })) };
  }

  #write(
    id: string,
    { ttl, body }: Stamped,
    expected: number,
    until: number,
    isAbandoned?: () => boolean,
  ): Promise<PublishOutcome> {
    const subject = keySubject(bucket.calls, id);
    return publishDurably(this.#link, subject, body, bucketWriteHeaders(ttl, expected), until, isAbandoned);
  }
}
