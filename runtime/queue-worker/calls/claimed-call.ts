import type { CallEntry } from "../../core/calls/call-entry.ts";
import { changeRecord, type KnownRecord, type RecordDecision } from "../../core/calls/change-record.ts";
import type { CallLedger } from "../../core/ports/call-ledger.ts";
import type { Lease, Touch } from "../lease.ts";

/** What became of a change to the record of a claimed call. */
export type ChangeOutcome = "stored" | "cancelled" | "lost";

/**
 * The record of a call that this worker has claimed. Changes and renewals run one after the other; each is a
 * compare-and-set, and a lost reply is resolved by reading the record.
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

  /** Writes what `next` makes of the record; retries until stored, ruled out by the record, or the lease is lost. */
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

  /** Renews the record: writes it unchanged, so that its age shows that the owner lives. One attempt per heartbeat. */
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

  /** Reads the record: true if it was cancelled. Also false when it cannot be read. */
  async isCancelled(): Promise<boolean> {
    const found = await this.#inTurn(() => this.#ledger.read(this.id)).catch(() => undefined);
    if (found?.entry.state !== "cancelled") return false;
    this.#record = found;
    return true;
  }

  /** Neither a cancelled record nor one that another worker has claimed may be overwritten. */
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
