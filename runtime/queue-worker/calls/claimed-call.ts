import type { CallEntry } from "../../core/calls/call-entry.ts";
import { changeRecord, type KnownRecord, type RecordDecision } from "../../core/calls/change-record.ts";
import type { CallLedger } from "../../core/ports/call-ledger.ts";
import type { Lease, Touch } from "../lease.ts";

/** What became of a change of a record that this worker holds. */
export type ChangeOutcome = "stored" | "cancelled" | "lost";

/**
 * The record of a call this worker has taken. Changes and touches run one after the other; each is a compare-and-set,
 * and an answer that was lost is found out by reading.
 */
export class ClaimedCall {
  readonly id: string;
  readonly #ledger: CallLedger;
  readonly #lease: Lease;
  #record: KnownRecord;
  #last: Promise<unknown> = Promise.resolve();

  constructor(parts: { id: string; ledger: CallLedger; lease: Lease; taken: KnownRecord }) {
    this.id = parts.id;
    this.#ledger = parts.ledger;
    this.#lease = parts.lease;
    this.#record = parts.taken;
  }

  /** As last written or read. */
  get record(): KnownRecord {
    return this.#record;
  }

  /** As last written or read. */
  get entry(): CallEntry {
    return this.#record.entry;
  }

  /** Writes what `next` makes of the record, trying until it is stored, refused by the facts, or the lease is lost. */
  change(next: (entry: CallEntry) => CallEntry): Promise<ChangeOutcome> {
    return this.#inTurn(async () => {
      const change = await changeRecord(
        this.#ledger,
        this.id,
        (found) => this.#decide(found, next),
        { signal: this.#lease.lost },
        this.#record,
      );
      if (change.kind === "not-written") return "lost";
      if (change.kind === "left") return change.as;
      this.#record = change.record;
      this.#lease.proven(change.sentAt);
      return "stored";
    });
  }

  /** Writes the record as it is, so that its age shows that the owner lives. Tried once: the next heartbeat comes. */
  touch(): Promise<Touch> {
    return this.#inTurn(async () => {
      const change = await changeRecord(
        this.#ledger,
        this.id,
        (found) => this.#decide(found, (entry) => entry),
        { until: performance.now() },
        this.#record,
      );
      if (change.kind === "not-written") return "no-answer";
      if (change.kind === "left") return "not-ours";
      this.#record = change.record;
      return "ours";
    });
  }

  /** Reads the record: true if it was cancelled. False, too, when nobody answers. */
  async isCancelled(): Promise<boolean> {
    const found = await this.#inTurn(() => this.#ledger.read(this.id)).catch(() => undefined);
    if (found?.entry.state !== "cancelled") return false;
    this.#record = found;
    return true;
  }

  /** A cancelled one must not be written over, nor one that another has. */
  #decide(
    found: KnownRecord | undefined,
    next: (entry: CallEntry) => CallEntry,
  ): RecordDecision<Exclude<ChangeOutcome, "stored">> {
    if (found?.entry.state === "cancelled") {
      this.#record = found;
      return { as: "cancelled" };
    }
    if (found === undefined || found.entry.owner !== this.#record.entry.owner) return { as: "lost" };
    return { as: "lost", write: next(found.entry) };
  }

  #inTurn<T>(act: () => Promise<T>): Promise<T> {
    const turn = this.#last.then(act, act);
    this.#last = turn.catch(() => {});
    return turn;
  }
}
