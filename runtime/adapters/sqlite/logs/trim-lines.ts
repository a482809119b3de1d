import type { DatabaseSync, StatementSync } from "node:sqlite";

import type { KeptLogBounds } from "../../../core/ports/kept-logs.ts";
import type { LineTable, StoredLine } from "./line-table.ts";

/** Lines that are removed in one transaction for each of the bounds. */
const linesAtOnce = 1_000;
/** Replicas that are forgotten in one transaction. */
const replicasAtOnce = 200;

/** Removes the oldest lines of a file. */
export class LineTrim {
  readonly #lines: LineTable;
  readonly #oldest: StatementSync;
  readonly #oldestOf: StatementSync;
  readonly #largest: StatementSync;
  readonly #oldReplicas: StatementSync;
  readonly #hasLine: StatementSync;
  readonly #deleteReplica: StatementSync;
  readonly #deleteUnused: StatementSync;

  constructor(database: DatabaseSync, lines: LineTable) {
    this.#lines = lines;
    this.#oldest = database.prepare(
      "SELECT seq, fn, size FROM line INDEXED BY line_by_time WHERE at < ? ORDER BY at LIMIT ?",
    );
    this.#oldestOf = database.prepare(
      "SELECT seq, fn, size FROM line INDEXED BY line_by_function WHERE fn = ? ORDER BY at, nanos LIMIT ?",
    );
    this.#largest = database.prepare("SELECT id, bytes FROM function WHERE bytes > ? ORDER BY bytes DESC LIMIT 1");
    this.#oldReplicas = database.prepare("SELECT id FROM replica WHERE at < ? ORDER BY at LIMIT ?");
    this.#hasLine = database.prepare("SELECT 1 FROM line INDEXED BY line_by_replica WHERE replica = ? LIMIT 1");
    this.#deleteReplica = database.prepare("DELETE FROM replica WHERE id = ?");
    this.#deleteUnused = database.prepare(
      "DELETE FROM function WHERE bytes = 0 AND NOT EXISTS (SELECT 1 FROM replica WHERE replica.fn = function.id)",
    );
  }

  /** To be used in a transaction; `excess` are bytes above those of all lines. True if there is more to remove. */
  remove({ age, functionBytes }: Omit<KeptLogBounds, "bytes">, excess: number, now: number): boolean {
    const old = this.#rows(this.#oldest, now - age);
    this.#lines.remove(old);
    if (old.length === linesAtOnce) return true;
    return this.#removeOfLargest(functionBytes) || this.#removeExcess(excess);
  }

  /** Forgets old replicas without lines, and functions without replicas. To be used in a transaction. */
  removeUnused(age: number, now: number): void {
    for (const { id } of this.#oldReplicas.all(now - age, replicasAtOnce))
      if (this.#hasLine.get(Number(id)) === undefined) this.#deleteReplica.run(Number(id));
    this.#deleteUnused.run();
  }

  #removeOfLargest(functionBytes: number): boolean {
    const largest = this.#largest.get(functionBytes);
    if (largest === undefined) return false;
    this.#lines.remove(
      upTo(this.#rows(this.#oldestOf, Number(largest["id"])), Number(largest["bytes"]) - functionBytes),
    );
    return true;
  }

  #removeExcess(excess: number): boolean {
    if (excess <= 0) return false;
    const removed = upTo(this.#rows(this.#oldest, Number.MAX_SAFE_INTEGER), excess);
    this.#lines.remove(removed);
    return removed.length > 0;
  }

  #rows(statement: StatementSync, first: number): readonly StoredLine[] {
    return statement.all(first, linesAtOnce).map((row) => ({
      seq: Number(row["seq"]),
      fn: Number(row["fn"]),
      size: Number(row["size"]),
    }));
  }
}

/** The first lines that have so many bytes together. */
function upTo(lines: readonly StoredLine[], bytes: number): readonly StoredLine[] {
  let sum = 0;
  return lines.filter(({ size }) => {
    const isNeeded = sum < bytes;
    sum += size;
    return isNeeded;
  });
}
