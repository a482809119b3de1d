import type { FunctionRef } from "../../../core/functions/function-ref.ts";
import type { LineErasure } from "../../../core/ports/history-erasure.ts";
import type {
  FollowedLine,
  KeptLogBounds,
  KeptLogsWriter,
  LinePlace,
  LogPosition,
} from "../../../core/ports/kept-logs.ts";
import { migratePostgres } from "../database/migrate-postgres.ts";
import type { PostgresDatabase } from "../database/postgres-database.ts";
import type { PostgresTransaction } from "../database/postgres-pool.ts";
import { addLines, logRow, removeLines, type LogRow } from "./log-lines.ts";
import { lineTables } from "./log-migrations.ts";
import { replicaPositions } from "./log-replicas.ts";
import { forgetUnused, storedLines, trimLines } from "./trim-log-lines.ts";

/** Lines that are removed in one transaction. */
const removedAtOnce = 1_000;
const { what } = lineTables;

/** Writes kept logs in PostgreSQL; transactions of other processes exclude each other. */
export class PostgresKeptLogsWriter implements KeptLogsWriter, LineErasure {
  /** No file that could be damaged. */
  readonly movedAside: undefined = undefined;
  readonly #database: PostgresDatabase;

  private constructor(database: PostgresDatabase) {
    this.#database = database;
  }

  /**
   * Brings the tables to the schema of this release.
   * @throws PlatformError if they are of a later release, or the database cannot be reached
   */
  static async open(database: PostgresDatabase): Promise<PostgresKeptLogsWriter> {
    await migratePostgres(database, lineTables);
    return new PostgresKeptLogsWriter(database);
  }

  positions(ref: FunctionRef): Promise<ReadonlyMap<string, LogPosition>> {
    return this.#database.look(what, (transaction) => replicaPositions(transaction, ref));
  }

  append(lines: readonly FollowedLine[]): Promise<void> {
    return this.#database.write({ what, lock: "lines", isLasting: false }, (transaction) =>
      addLines(transaction, lines),
    );
  }

  async remove({ namespace, name }: FunctionRef, places: readonly LinePlace[]): Promise<void> {
    for (let from = 0; from < places.length; from += removedAtOnce) {
      const some = places.slice(from, from + removedAtOnce).map(([, , seq]) => seq);
      await this.#change(async (transaction) => {
        const found = await transaction.all(
          `SELECT l.seq, l.fn, l.size FROM log_line AS l JOIN log_function AS f ON f.id = l.fn
           WHERE l.seq = ANY($1::bigint[]) AND f.namespace = $2 AND f.name = $3`,
          [some, namespace, name],
        );
        await removeLines(transaction, found.map(logRow));
      });
    }
  }

  async eraseLines(ref: FunctionRef): Promise<number> {
    let [removed, count] = [0, 0];
    do {
      count = await this.#change(async (transaction) => {
        const lines = await firstLinesOf(transaction, ref);
        await removeLines(transaction, lines);
        return lines.length;
      });
      removed += count;
    } while (count === removedAtOnce);
    return removed;
  }

  async namespaces(): Promise<readonly string[]> {
    const found = await this.#database.look(what, (transaction) =>
      transaction.all("SELECT DISTINCT namespace FROM log_function ORDER BY namespace"),
    );
    return found.map(({ namespace }) => String(namespace));
  }

  async removeNamespace(namespace: string): Promise<void> {
    while (await this.#change((transaction) => removeSomeLinesOf(transaction, namespace)));
  }

  async trim(bounds: KeptLogBounds, now: number): Promise<boolean> {
    return await this.#change(async (transaction) => {
      const more = await trimLines(transaction, bounds, now);
      await forgetUnused(transaction, Math.ceil(now - bounds.age));
      return more;
    });
  }

  /** Bytes as they are counted, about. */
  size(): Promise<{ readonly lines: number; readonly bytes: number }> {
    return this.#database.look(what, storedLines);
  }

  #change<T>(body: (transaction: PostgresTransaction) => Promise<T>): Promise<T> {
    return this.#database.write({ what, lock: "lines" }, body);
  }
}

/** Removes some lines, or a function that has none; true if there may be more. */
async function removeSomeLinesOf(transaction: PostgresTransaction, namespace: string): Promise<boolean> {
  const [found] = await transaction.all("SELECT id FROM log_function WHERE namespace = $1 LIMIT 1", [namespace]);
  if (found === undefined) return false;
  const fn = Number(found["id"]);
  const lines = await transaction.all(
    `SELECT seq, fn, size FROM log_line WHERE fn = $1 ORDER BY at, nanos, seq LIMIT ${removedAtOnce}`,
    [fn],
  );
  await removeLines(transaction, lines.map(logRow));
  if (lines.length === removedAtOnce) return true;
  await transaction.all("DELETE FROM log_replica WHERE fn = $1", [fn]);
  await transaction.all("DELETE FROM log_function WHERE id = $1", [fn]);
  return true;
}

async function firstLinesOf(
  transaction: PostgresTransaction,
  { namespace, name }: FunctionRef,
): Promise<readonly LogRow[]> {
  const lines = await transaction.all(
    `SELECT l.seq, l.fn, l.size FROM log_function AS f JOIN log_line AS l ON l.fn = f.id
     WHERE f.namespace = $1 AND f.name = $2 LIMIT ${removedAtOnce}`,
    [namespace, name],
  );
  return lines.map(logRow);
}
