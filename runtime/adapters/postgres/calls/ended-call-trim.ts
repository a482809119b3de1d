import type { TrimPlan } from "../../../core/history/trim-plan.ts";
import { dayOf } from "../database/partition-days.ts";
import type { PostgresTransaction } from "../database/postgres-pool.ts";
import { removeRows } from "./change-calls.ts";
import { postgresRow } from "./found-calls.ts";

/** Milliseconds after which open calls that were passed over are looked at again. */
const passedOverFor = 60_000;

/** Removes the oldest calls that have ended, row by row. */
export class EndedCallTrim {
  /** Calls up to here were open, so that many of them do not slow down each trim. */
  #passed: { readonly accepted: number; readonly at: number } | undefined;

  /** How many were removed. */
  async remove(transaction: PostgresTransaction, plan: TrimPlan, now: number): Promise<number> {
    const { acceptedBefore, limit, excess } = plan;
    const [from, until] = [this.#from(now), excess > 0 ? Number.MAX_SAFE_INTEGER : Math.ceil(acceptedBefore)];
    const found = await transaction.all(
      `SELECT c.id, c.fn, c.state, c.accepted, c.day, c.size FROM call AS c
       WHERE c.accepted >= $1 AND c.accepted < $2 AND c.day >= $3 AND c.day <= $4 AND c.state >= 3
       ORDER BY c.accepted, c.id LIMIT $5`,
      [from, until, dayOf(from), dayOf(until), limit],
    );
    const rows = found.map(postgresRow);
    const removed = rows.filter(({ accepted }, index) => index < excess || accepted < acceptedBefore);
    await removeRows(transaction, removed);
    const [first] = rows;
    if (first !== undefined) this.#passed = { accepted: first.accepted, at: this.#passed?.at ?? now };
    return removed.length;
  }

  #from(now: number): number {
    // A clock that was set back must not keep it either.
    if (this.#passed !== undefined && Math.abs(now - this.#passed.at) >= passedOverFor) this.#passed = undefined;
    return this.#passed?.accepted ?? 0;
  }
}
