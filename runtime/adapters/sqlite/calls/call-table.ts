import type { DatabaseSync, StatementSync } from "node:sqlite";

import type { HistoryCall } from "../../../core/history/history-row.ts";
import { stateCodes } from "../../sql/calls/call-codes.ts";
import { callRowOf, rowColumns, rowTables } from "../../sql/calls/call-columns.ts";
import { callIdBytes } from "../../sql/calls/call-id-bytes.ts";
import { expandDetails } from "../../sql/calls/compact-details.ts";
import { CountChanges, type CountedCall } from "../../sql/calls/count-changes.ts";
import { storedColumns, storedValues } from "../../sql/calls/stored-call.ts";
import { renderSql, sql } from "../../sql/sql-text.ts";
import { sqliteParameter } from "../database/sqlite-dialect.ts";
import type { NameTable } from "./name-table.ts";

/** A row that is to be deleted. */
export interface StoredRow extends CountedCall {
  readonly seq: number;
}

const findText = renderSql(
  sql`SELECT ${rowColumns}, c.details FROM call AS c ${rowTables} WHERE c.id = ${null}`,
  sqliteParameter,
).text;
const putText = `INSERT INTO call (${storedColumns.join(", ")}) VALUES (${storedColumns.map(() => "?").join(", ")})
  ON CONFLICT (id) DO UPDATE SET ${storedColumns
    .slice(1)
    .map((name) => `${name} = excluded.${name}`)
    .join(", ")}`;

/** The calls of a file, and how many there are. To be used in a transaction that ends with `writeCounts`. */
export class CallTable {
  readonly #names: NameTable;
  readonly #changes = new CountChanges();
  readonly #find: StatementSync;
  readonly #put: StatementSync;
  readonly #delete: StatementSync;
  readonly #deleteRow: StatementSync;
  readonly #countFunction: StatementSync;
  readonly #countState: StatementSync;
  readonly #countMinute: StatementSync;
  readonly #dropMinute: StatementSync;

  constructor(database: DatabaseSync, names: NameTable) {
    this.#names = names;
    this.#find = database.prepare(findText);
    this.#put = database.prepare(putText);
    this.#delete = database.prepare("DELETE FROM call WHERE id = ?");
    this.#deleteRow = database.prepare("DELETE FROM call WHERE seq = ?");
    this.#countFunction = database.prepare("UPDATE function SET calls = calls + ? WHERE id = ?");
    this.#countState = database.prepare(
      "INSERT INTO state_count VALUES (?, ?) ON CONFLICT (state) DO UPDATE SET calls = calls + excluded.calls",
    );
    this.#countMinute = database.prepare(
      "INSERT INTO minute_count VALUES (?, ?) ON CONFLICT (minute) DO UPDATE SET calls = calls + excluded.calls",
    );
    this.#dropMinute = database.prepare("DELETE FROM minute_count WHERE minute = ? AND calls = 0");
  }

  find(id: string): HistoryCall | undefined {
    const record = this.#find.get(callIdBytes(id));
    if (record === undefined) return undefined;
    const row = callRowOf(record);
    return { row, details: expandDetails(String(record["details"]), row) };
  }

  /** Stores a call in place of what was found before. */
  put(before: HistoryCall | undefined, after: HistoryCall): void {
    const queue = this.#names.wordId(after.row.queue);
    this.#put.run(...storedValues(after, { fn: this.#names.functionId(after.row), queue }));
    if (before !== undefined) this.#changes.subtract(this.#counted(before));
    this.#changes.add(this.#counted(after));
  }

  /** Deletes a call that was found. */
  remove(call: HistoryCall): void {
    this.#delete.run(callIdBytes(call.row.id));
    this.#changes.subtract(this.#counted(call));
  }

  removeRows(rows: readonly StoredRow[]): void {
    for (const row of rows) {
      this.#deleteRow.run(row.seq);
      this.#changes.subtract(row);
    }
  }

  writeCounts(): void {
    const { functions, states, minutes } = this.#changes;
    for (const [fn, by] of functions) if (by !== 0) this.#countFunction.run(by, fn);
    for (const [state, by] of states) if (by !== 0) this.#countState.run(state, by);
    for (const [minute, by] of minutes) {
      if (by !== 0) this.#countMinute.run(minute, by);
      if (by < 0) this.#dropMinute.run(minute);
    }
    this.#changes.clear();
  }

  /** For after a transaction that was undone. */
  forget(): void {
    this.#changes.clear();
  }

  #counted({ row }: HistoryCall): CountedCall {
    return {
      fn: this.#names.functionId(row),
      state: stateCodes.code(row.state),
      accepted: Math.floor(row.accepted),
    };
  }
}
