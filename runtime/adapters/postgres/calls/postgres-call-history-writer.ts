import { parseCallId } from "../../../api/grammar.ts";
import type { FunctionRef } from "../../../core/functions/function-ref.ts";
import { trimPlan, type HistorySize, type TrimPlan } from "../../../core/history/trim-plan.ts";
import type {
  CallHistoryWriter,
  HistoryBatch,
  HistoryBounds,
  StreamPosition,
} from "../../../core/ports/call-history.ts";
import type { CallErasure } from "../../../core/ports/history-erasure.ts";
import { isOpenState } from "../../sql/calls/call-codes.ts";
import { callIdBytes, callIdText } from "../../sql/calls/call-id-bytes.ts";
import { projectChanges } from "../../sql/calls/project-changes.ts";
import { migratePostgres } from "../database/migrate-postgres.ts";
import { dayOf } from "../database/partition-days.ts";
import type { PostgresDatabase } from "../database/postgres-database.ts";
import { isLockTimeout } from "../database/postgres-failure.ts";
import type { PostgresTransaction } from "../database/postgres-pool.ts";
import { dropDay, endedDays } from "./call-days.ts";
import { changeCalls } from "./change-calls.ts";
import { EndedCallTrim } from "./ended-call-trim.ts";
import { eraseSomeCalls, type ErasedCalls } from "./erase-calls.ts";
import { findCalls } from "./found-calls.ts";
import { historyTables } from "./history-migrations.ts";
import { putGap, readPosition, trimGaps, writePosition } from "./progress-row.ts";
import { removeSomeOf, removeUnusedFunctions } from "./remove-functions.ts";
import { addRollups, trimRollupBytes, trimRollups } from "./rollup-rows.ts";
import { findTombstones, putTombstones, trimTombstones } from "./tombstone-rows.ts";

const { what } = historyTables;

/**
 * Writes the history in PostgreSQL. There is one writer at a time; should there be two for a while, or another process
 * remove a call, each of their transactions excludes the others, and nothing of what one saw before is used in the next.
 */
export class PostgresCallHistoryWriter implements CallHistoryWriter, CallErasure {
  /** No file that could be damaged. */
  readonly movedAside: undefined = undefined;
  readonly #database: PostgresDatabase;
  readonly #now: () => number;
  readonly #ended = new EndedCallTrim();

  private constructor(database: PostgresDatabase, now: () => number) {
    this.#database = database;
    this.#now = now;
  }

  /**
   * Brings the tables to the schema of this release. `now`: Unix milliseconds.
   * @throws PlatformError if they are of a later release, or the database cannot be reached
   */
  static async open(database: PostgresDatabase, now: () => number = Date.now): Promise<PostgresCallHistoryWriter> {
    await migratePostgres(database, historyTables);
    return new PostgresCallHistoryWriter(database, now);
  }

  position(): Promise<StreamPosition | undefined> {
    return this.#database.look(what, readPosition);
  }

  async apply({ changes, rollups, position, gap }: HistoryBatch): Promise<void> {
    const ids = new Set(changes.map((change) => (change.kind === "sync" ? change.call.id : change.id)));
    const keys = [...ids].filter((id) => parseCallId(id) === id);
    await this.#database.write({ what, lock: "calls", isLasting: false }, async (transaction) => {
      const stored = await findCalls(transaction, keys);
      const ignored = await findTombstones(transaction, keys);
      const { calls, withdrawn } = projectChanges(changes, {
        find: (id) => stored.get(id)?.call,
        ignoredUpTo: (id) => ignored.get(id),
      });
      await changeCalls(
        transaction,
        calls.map(({ before, after }) => ({ before: before && stored.get(before.row.id), after })),
      );
      await putTombstones(transaction, withdrawn, this.#now());
      await addRollups(transaction, rollups);
      if (gap !== undefined) await putGap(transaction, gap);
      if (position !== undefined) await writePosition(transaction, position);
    });
  }

  async openCalls(after: string | undefined, limit: number): Promise<readonly string[]> {
    const from = after === undefined ? new Uint8Array(0) : callIdBytes(after);
    const found = await this.#database.look(what, (transaction) =>
      transaction.all("SELECT id FROM call WHERE state < 3 AND id > $1 ORDER BY id LIMIT $2", [from, limit]),
    );
    return found.map(({ id }) => callIdText(id as Uint8Array));
  }

  async markUnknown(ids: readonly string[]): Promise<void> {
    await this.#change(async (transaction) => {
      const open = [...(await findCalls(transaction, ids)).values()].filter(({ call }) => isOpenState(call.row.state));
      await changeCalls(
        transaction,
        open.map((before) => ({ before, after: { ...before.call, row: { ...before.call.row, state: "unknown" } } })),
      );
    });
  }

  async remove(id: string): Promise<boolean> {
    if (parseCallId(id) !== id) return true;
    return await this.#change(async (transaction) => {
      const found = (await findCalls(transaction, [id])).get(id);
      if (found !== undefined && isOpenState(found.call.row.state)) return false;
      if (found !== undefined) await changeCalls(transaction, [{ before: found, after: undefined }]);
      await putTombstones(transaction, new Map([[id, null]]), this.#now());
      return true;
    });
  }

  async removeNamespace(namespace: string): Promise<void> {
    while (await this.#change((transaction) => removeSomeOf(transaction, namespace)));
  }

  async eraseCalls(ref: FunctionRef): Promise<{ readonly calls: number; readonly open: number }> {
    let [calls, open] = [0, 0];
    let place: ErasedCalls["next"];
    do {
      const from = place;
      const part = await this.#change((transaction) => eraseSomeCalls(transaction, ref, from, this.#now()));
      calls += part.calls;
      open += part.open;
      place = part.next;
    } while (place !== undefined);
    return { calls, open };
  }

  /** Days beyond the age are removed as a whole, with their partition, however many calls they have. */
  async trim(bounds: HistoryBounds, now: number): Promise<boolean> {
    const plan = trimPlan(await this.size(), bounds, now);
    if (await this.#dropDay(plan, now)) return true;
    const { removed, moreRollups } = await this.#change(async (transaction) => {
      const moreAreOld = await trimRollups(transaction, plan.rollupsBefore);
      const intervals = await trimRollupBytes(transaction, plan.rollupExcess, now);
      // Calls give what rollups do not have.
      const isForCalls = plan.rollupExcess > 0 && intervals === 0;
      const callPlan = isForCalls ? trimPlan(withoutShare(await storedSize(transaction)), bounds, now) : plan;
      const count = await this.#ended.remove(transaction, callPlan, now);
      await trimTombstones(transaction, now);
      await trimGaps(transaction, now - bounds.age);
      await removeUnusedFunctions(transaction);
      return { removed: count, moreRollups: moreAreOld || intervals > 0 };
    });
    if (moreRollups || removed === plan.limit) return true;
    return removed > 0 && trimPlan(await this.size(), bounds, now).excess > 0;
  }

  size(): Promise<HistorySize> {
    return this.#database.look(what, storedSize);
  }

  /** True if there was one. */
  async #dropDay({ acceptedBefore }: TrimPlan, now: number): Promise<boolean> {
    try {
      return await this.#change(async (transaction) => {
        const [day] = await endedDays(transaction, { before: dayOf(acceptedBefore), today: dayOf(now) });
        if (day !== undefined) await dropDay(transaction, day);
        return day !== undefined;
      });
    } catch (err) {
      // Reads are in its way: its calls go one by one meanwhile.
      if (err instanceof Error && isLockTimeout(err.cause)) return false;
      throw err;
    }
  }

  #change<T>(body: (transaction: PostgresTransaction) => Promise<T>): Promise<T> {
    return this.#database.write({ what, lock: "calls" }, body);
  }
}

/** Bytes are those that are counted, about: a table does not shrink when its oldest rows go. */
async function storedSize(transaction: PostgresTransaction): Promise<HistorySize> {
  const [sums] = await transaction.all(
    `SELECT coalesce(sum(calls), 0) AS calls, coalesce(sum(bytes), 0) AS bytes,
       (SELECT rollup_bytes FROM progress WHERE one = 1) AS rollups FROM call_day`,
  );
  const callBytes = Number(sums?.["bytes"]);
  return { calls: Number(sums?.["calls"]), bytes: callBytes + Number(sums?.["rollups"]), callBytes };
}

/** Of which calls have no share that they keep. */
function withoutShare({ calls, bytes }: HistorySize): HistorySize {
  return { calls, bytes };
}
