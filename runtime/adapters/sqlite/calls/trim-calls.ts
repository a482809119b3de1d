import type { DatabaseSync, StatementSync } from "node:sqlite";

import type { TrimPlan } from "../../../core/history/trim-plan.ts";
import type { CallTable } from "./call-table.ts";

/** Milliseconds after which open calls that were passed over are looked at again. */
const passedOverFor = 60_000;

/** Numbers of calls, the last and the first ones, by which it is estimated how much one takes. */
const sampled = 100;
/** Bytes of a call beside its details: its other columns, and its entries in the indexes. */
const besideDetails = 200;

/** Removes the oldest calls of a file that have ended. */
export class CallTrim {
  readonly #calls: CallTable;
  readonly #oldest: StatementSync;
  readonly #details: StatementSync;
  /** Calls up to here were open, so that many of them do not slow down each trim. */
  #passed: { readonly accepted: number; readonly at: number } | undefined;

  constructor(database: DatabaseSync, calls: CallTable) {
    this.#calls = calls;
    this.#oldest = database.prepare(
      `SELECT seq, fn, state, accepted FROM call INDEXED BY call_by_time
       WHERE accepted >= ? AND accepted < ? AND state >= 3 ORDER BY accepted, id LIMIT ?`,
    );
    this.#details = database.prepare(
      `SELECT coalesce(avg(length(details)), 0) AS size FROM call
       WHERE seq > (SELECT max(seq) FROM call) - ${sampled} OR seq < (SELECT min(seq) FROM call) + ${sampled}`,
    );
  }

  /** To be used in a transaction; returns how many were removed. */
  remove({ acceptedBefore, limit, excess }: TrimPlan, now: number): number {
    const until = excess > 0 ? Number.MAX_SAFE_INTEGER : acceptedBefore;
    const found = this.#oldest.all(this.#from(now), until, limit).map((record) => ({
      seq: Number(record["seq"]),
      fn: Number(record["fn"]),
      state: Number(record["state"]),
      accepted: Number(record["accepted"]),
    }));
    const removed = found.filter(({ accepted }, index) => index < excess || accepted < acceptedBefore);
    this.#calls.removeRows(removed);
    const [first] = found;
    if (first !== undefined) this.#passed = { accepted: first.accepted, at: this.#passed?.at ?? now };
    return removed.length;
  }

  /** Bytes that a call takes, about. */
  bytesOfOne(): number {
    return Number(this.#details.get()?.["size"]) + besideDetails;
  }

  #from(now: number): number {
    // A clock that was set back must not keep it either.
    if (this.#passed !== undefined && Math.abs(now - this.#passed.at) >= passedOverFor) this.#passed = undefined;
    return this.#passed?.accepted ?? 0;
  }
}
