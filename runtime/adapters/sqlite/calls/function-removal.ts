import type { DatabaseSync, StatementSync } from "node:sqlite";

import type { CallTable } from "./call-table.ts";
import type { RollupTable } from "./rollup-table.ts";

/** Calls that are removed in one transaction. */
const atOnce = 1_000;

/** Removes functions with their calls and rollups. Ids of functions must not be cached beyond it. */
export class FunctionRemoval {
  readonly #calls: CallTable;
  readonly #rollups: RollupTable;
  readonly #functions: StatementSync;
  readonly #rows: StatementSync;
  readonly #delete: StatementSync;
  readonly #unused: StatementSync;

  constructor(database: DatabaseSync, calls: CallTable, rollups: RollupTable) {
    this.#calls = calls;
    this.#rollups = rollups;
    this.#functions = database.prepare("SELECT id FROM function WHERE namespace = ?");
    this.#rows = database.prepare(
      "SELECT seq, fn, state, accepted FROM call INDEXED BY call_by_function WHERE fn = ? LIMIT ?",
    );
    this.#delete = database.prepare("DELETE FROM function WHERE id = ?");
    this.#unused = database.prepare(
      `DELETE FROM function WHERE calls = 0
       AND NOT EXISTS (SELECT 1 FROM rollup WHERE rollup.step = 2 AND rollup.fn = function.id)`,
    );
  }

  /** Removes some calls, or a function that has none; true if there may be more. */
  removeSome(namespace: string): boolean {
    const found = this.#functions.get(namespace);
    if (found === undefined) return false;
    const fn = Number(found["id"]);
    const rows = this.#rows.all(fn, atOnce).map((record) => ({
      seq: Number(record["seq"]),
      fn,
      state: Number(record["state"]),
      accepted: Number(record["accepted"]),
    }));
    this.#calls.removeRows(rows);
    if (rows.length < atOnce) {
      this.#rollups.removeFunction(fn);
      this.#delete.run(fn);
    }
    return true;
  }

  /** Removes functions of which nothing is kept. */
  removeUnused(): void {
    this.#unused.run();
  }
}
