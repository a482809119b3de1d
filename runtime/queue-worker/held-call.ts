import { setTimeout as pause } from "node:timers/promises";

import type { CallEntry } from "../core/call-entry.ts";
import type { CallLedger, LedgerEntry } from "../core/ports/call-ledger.ts";
import type { Lease, Touch } from "./lease.ts";

/** What became of a change of a record that this worker holds. */
export type ChangeOutcome = "stored" | "cancelled" | "lost";

const pauseAfterFailure = 100;

/** Whether two records say the same; when they expire, each write says anew. */
function isSameEntry(one: CallEntry, other: CallEntry): boolean {
  return JSON.stringify({ ...one, expires: 0 }) === JSON.stringify({ ...other, expires: 0 });
}

/**
 * The record of a call this worker has taken. Changes and touches run one after the other; each is a compare-and-set,
 * and an answer that was lost is found out by reading.
 */
export class HeldCall {
  readonly id: string;
  readonly #ledger: CallLedger;
  readonly #lease: Lease;
  #entry: CallEntry;
  #revision: number;
  #last: Promise<unknown> = Promise.resolve();

  constructor(parts: { id: string; ledger: CallLedger; lease: Lease; held: CallEntry; revision: number }) {
    this.id = parts.id;
    this.#ledger = parts.ledger;
    this.#lease = parts.lease;
    this.#entry = parts.held;
    this.#revision = parts.revision;
  }

  /** As last written or read. */
  get entry(): CallEntry {
    return this.#entry;
  }

  /** Revision of `entry`. */
  get revision(): number {
    return this.#revision;
  }

  /** Writes what `next` makes of the record, trying until it is stored, refused by the facts, or the lease is lost. */
  change(next: (entry: CallEntry) => CallEntry): Promise<ChangeOutcome> {
    return this.#inTurn(() => this.#change(next));
  }

  /** Writes the record as it is, so that its age shows that the owner lives. */
  touch(): Promise<Touch> {
    return this.#inTurn(async () => {
      if (this.#entry.state === "cancelled") return "not-ours";
      try {
        const revision = await this.#ledger.update(this.id, this.#entry, this.#revision);
        if (revision !== undefined) {
          this.#revision = revision;
          return "ours";
        }
        const found = await this.#ledger.read(this.id);
        if (found === undefined || found.entry.owner !== this.#entry.owner) return this.#seen(found, "not-ours");
        this.#revision = found.revision;
        return "ours";
      } catch {
        return "no-answer";
      }
    });
  }

  /** Reads the record: true if it was cancelled. False, too, when nobody answers. */
  async isCancelled(): Promise<boolean> {
    const found = await this.#inTurn(() => this.#ledger.read(this.id)).catch(() => undefined);
    if (found?.entry.state !== "cancelled") return false;
    this.#seen(found, undefined);
    return true;
  }

  async #change(next: (entry: CallEntry) => CallEntry): Promise<ChangeOutcome> {
    while (!this.#lease.lost.aborted) {
      // Seen by a look at the record meanwhile: its revision is known now, and must not be written over.
      if (this.#entry.state === "cancelled") return "cancelled";
      const wanted = next(this.#entry);
      const sentAt = performance.now();
      try {
        const revision = await this.#ledger.update(this.id, wanted, this.#revision);
        if (revision !== undefined) return this.#stored(wanted, revision, sentAt);
        const found = await this.#ledger.read(this.id);
        if (found === undefined) return "lost";
        if (isSameEntry(found.entry, wanted)) return this.#stored(wanted, found.revision, sentAt);
        if (found.entry.state === "cancelled") return this.#seen(found, "cancelled");
        if (found.entry.owner !== this.#entry.owner) return "lost";
        this.#revision = found.revision;
      } catch {
        await pause(pauseAfterFailure);
      }
    }
    return "lost";
  }

  #stored(entry: CallEntry, revision: number, sentAt: number): "stored" {
    this.#entry = entry;
    this.#revision = revision;
    this.#lease.proven(sentAt);
    return "stored";
  }

  #seen<T>(found: LedgerEntry | undefined, outcome: T): T {
    if (found?.entry.state === "cancelled") {
      this.#entry = found.entry;
      this.#revision = found.revision;
    }
    return outcome;
  }

  #inTurn<T>(act: () => Promise<T>): Promise<T> {
    const turn = this.#last.then(act, act);
    this.#last = turn.catch(() => {});
    return turn;
  }
}
