import { statSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";

import type { FunctionRef } from "../../../core/functions/function-ref.ts";
import type { HistoryCall } from "../../../core/history/history-row.ts";
import type { HistoryGap, StreamPosition } from "../../../core/ports/call-history.ts";
import { callRowOf, rowColumns, rowTables } from "../../sql/calls/call-columns.ts";
import { expandDetails } from "../../sql/calls/compact-details.ts";
import { allFunctions, rollupStepCode } from "../../sql/rollups/rollup-codes.ts";
import { renderSql, sql } from "../../sql/sql-text.ts";
import type { StoredInterval } from "../calls/rollup-table.ts";
import type { StoredTombstone } from "../calls/tombstone-table.ts";
import { sqliteParameter } from "../database/sqlite-dialect.ts";
import { ReadableRanges } from "./readable-ranges.ts";

/** A call with its number in the file; undefined if its row holds something else. */
export interface FormerCall {
  readonly seq: number;
  readonly call: HistoryCall | undefined;
}

/** Rows that are read at a time: some milliseconds, in which this process does nothing else. */
const atOnce = 500;
/** Fewest bytes of a call: where the last one cannot be read there are no more than these allow. */
const leastBytes = 100;
const callsText = renderSql(
  sql`SELECT c.seq, ${rowColumns}, c.details FROM call AS c ${rowTables}
      WHERE c.seq >= ${0} AND c.seq < ${0} ORDER BY c.seq LIMIT ${0}`,
  sqliteParameter,
).text;

const tombstonesText = "SELECT id, revision, written FROM tombstone WHERE id > ? ORDER BY id LIMIT ?";

/** Reads a file that is not written any more, as far as it can be read. Statements block this process. */
export class FormerReader implements Disposable {
  readonly #path: string;
  readonly #database: DatabaseSync | undefined;
  readonly #functions: ReadonlyMap<number, FunctionRef>;
  #calls: ReadableRanges<FormerCall> | undefined;
  #readCalls = 0;
  #hasLosses = false;

  constructor(path: string) {
    this.#path = path;
    this.#database = this.#attempt(() => new DatabaseSync(path, { readOnly: true, timeout: 500 }), undefined);
    this.#functions = new Map(
      this.#all("SELECT id, namespace, name FROM function").map(({ id, namespace, name }) => [
        Number(id),
        { namespace: String(namespace), name: String(name) },
      ]),
    );
  }

  /** Whether something could not be read, as far as was looked. */
  get hasLosses(): boolean {
    return this.#hasLosses || (this.#calls?.skipped ?? 0) > 0;
  }

  position(): StreamPosition | undefined {
    const [row] = this.#all("SELECT position FROM progress");
    const position = row?.["position"];
    return this.#attempt(
      () => (typeof position === "string" ? (JSON.parse(position) as StreamPosition) : undefined),
      undefined,
    );
  }

  /** The time before which points of rollups are ignored. */
  rollupsSince(): number {
    const [row] = this.#all("SELECT rollups_since AS since FROM progress");
    return Number(row?.["since"] ?? 0);
  }

  gaps(): readonly HistoryGap[] {
    return this.#all("SELECT since, until FROM gap").map(({ since, until }) => ({
      from: Number(since),
      to: Number(until),
    }));
  }

  *tombstones(): Generator<readonly StoredTombstone[], void> {
    for (let after = new Uint8Array(0); ;) {
      const rows = this.#all(tombstonesText, after, atOnce);
      yield rows.map(({ id, revision, written }) => ({
        id: id as Uint8Array,
        revision: revision === null ? null : Number(revision),
        written: Number(written),
      }));
      const last = rows.at(-1)?.["id"];
      if (rows.length < atOnce || !(last instanceof Uint8Array)) return;
      after = new Uint8Array(last);
    }
  }

  *intervals(): Generator<readonly StoredInterval[], void> {
    for (const step of Object.values(rollupStepCode))
      for (const fn of [allFunctions, ...this.#functions.keys()]) yield* this.#intervalsOf(step, fn);
  }

  /** The next calls. */
  calls(): { readonly calls: readonly HistoryCall[]; readonly more: boolean } {
    this.#calls ??= this.#ranges();
    const { rows, more } = this.#calls.next();
    const calls = rows.flatMap(({ call }) => call ?? []);
    if (calls.length < rows.length) this.#hasLosses = true;
    this.#readCalls += rows.length;
    // Damage may hide rows, and say nothing.
    if (!more && this.#readCalls < this.#countedCalls()) this.#hasLosses = true;
    return { calls, more };
  }

  [Symbol.dispose](): void {
    if (this.#database?.isOpen === true) this.#database.close();
  }

  *#intervalsOf(step: number, fn: number): Generator<readonly StoredInterval[], void> {
    const text = `SELECT r.at, r.source, w.text, r.calls, r.counts FROM rollup AS r LEFT JOIN word AS w ON w.id = r.source
      WHERE r.step = ? AND r.fn = ? AND (r.at, r.source) > (?, ?) ORDER BY r.at, r.source LIMIT ?`;
    for (let [at, source] = [-1, -1]; ;) {
      const rows = this.#all(text, step, fn, at, source, atOnce);
      if (rows.length === 0) return;
      yield rows.map((row) => ({
        step,
        function: this.#functions.get(fn),
        at: Number(row["at"]),
        source: typeof row["text"] === "string" ? row["text"] : `former-${Number(row["source"])}`,
        calls: Number(row["calls"]),
        counts: String(row["counts"]),
      }));
      const last = rows.at(-1);
      if (rows.length < atOnce || last === undefined) return;
      [at, source] = [Number(last["at"]), Number(last["source"])];
    }
  }

  #ranges(): ReadableRanges<FormerCall> {
    const first = this.#all("SELECT seq FROM call ORDER BY seq LIMIT 1");
    const last = this.#all("SELECT seq FROM call ORDER BY seq DESC LIMIT 1");
    const end = last[0] === undefined ? undefined : Number(last[0]["seq"]) + 1;
    // With neither end nothing of it can be found, or it is empty.
    const to = end ?? (first.length === 0 ? 0 : Math.ceil(statSync(this.#path).size / leastBytes));
    const statement = this.#attempt(() => this.#database?.prepare(callsText), undefined);
    return new ReadableRanges(
      [Number(first[0]?.["seq"] ?? 0), statement === undefined ? 0 : to],
      atOnce,
      ([from, until], limit) =>
        (statement?.all(from, until, limit) ?? []).map((row) => ({ seq: Number(row["seq"]), call: callOf(row) })),
    );
  }

  #countedCalls(): number {
    const [row] = this.#all("SELECT coalesce(sum(calls), 0) AS calls FROM state_count");
    return Number(row?.["calls"] ?? 0);
  }

  /** The rows of a statement; none where they cannot be read. */
  #all(text: string, ...values: readonly (number | Uint8Array)[]): readonly Readonly<Record<string, unknown>>[] {
    return this.#attempt(() => this.#database?.prepare(text).all(...values) ?? [], []);
  }

  #attempt<T>(read: () => T, otherwise: T): T {
    try {
      return read();
    } catch {
      this.#hasLosses = true;
      return otherwise;
    }
  }
}

function callOf(record: Readonly<Record<string, unknown>>): HistoryCall | undefined {
  // The names of its function and queue are in other tables.
  if (record["namespace"] === null || record["queue"] === null) return undefined;
  try {
    const row = callRowOf(record);
    return { row, details: expandDetails(String(record["details"]), row) };
  } catch {
    return undefined;
  }
}
