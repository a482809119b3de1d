import type { DatabaseSync, StatementSync } from "node:sqlite";

import type { RollupPoint } from "../../../core/history/rollups/rollup.ts";
import { allFunctions, intervalsOf, rollupStepCode } from "../../sql/rollups/rollup-codes.ts";
import { callsIn, withPoint, type StoredRollup } from "../../sql/rollups/stored-rollup.ts";
import type { NameTable } from "./name-table.ts";

/** Rows that a trim deletes of one step. */
const trimmedRows = 5_000;

/** The rollups of a file: of each function, and of all together, in every step. To be used in a transaction. */
export class RollupTable {
  readonly #names: NameTable;
  readonly #since: StatementSync;
  readonly #setSince: StatementSync;
  readonly #find: StatementSync;
  readonly #put: StatementSync;
  readonly #oldest: StatementSync;
  readonly #delete: StatementSync;
  readonly #deleteFunction: StatementSync;

  constructor(database: DatabaseSync, names: NameTable) {
    this.#names = names;
    this.#since = database.prepare("SELECT rollups_since FROM progress WHERE one = 1");
    this.#setSince = database.prepare("UPDATE progress SET rollups_since = max(rollups_since, ?) WHERE one = 1");
    this.#find = database.prepare("SELECT counts FROM rollup WHERE step = ? AND fn = ? AND at = ? AND source = ?");
    this.#put = database.prepare(
      `INSERT INTO rollup VALUES (?, ?, ?, ?, ?, ?)
       ON CONFLICT (step, fn, at, source) DO UPDATE SET calls = excluded.calls, counts = excluded.counts`,
    );
    this.#oldest = database.prepare(
      `SELECT fn, at, source FROM rollup INDEXED BY rollup_by_age WHERE step = ? AND at < ? ORDER BY at LIMIT ?`,
    );
    this.#delete = database.prepare("DELETE FROM rollup WHERE step = ? AND fn = ? AND at = ? AND source = ?");
    this.#deleteFunction = database.prepare("DELETE FROM rollup WHERE step = ? AND fn = ?");
  }

  /** Adds points. The interval of 10 s tells whether one was added before, so one that is older is ignored. */
  add(points: readonly RollupPoint[]): void {
    const since = Number(this.#since.get()?.["rollups_since"]);
    for (const point of points) this.#addPoint(point, since);
  }

  /** Deletes some of what began before these times; true if there may be more. */
  trim(before: Readonly<Record<keyof typeof rollupStepCode, number>>): boolean {
    this.#setSince.run(before["10s"]);
    let more = false;
    for (const [step, time] of Object.entries(before)) {
      const code = rollupStepCode[step as keyof typeof rollupStepCode];
      const rows = this.#oldest.all(code, time, trimmedRows);
      for (const { fn, at, source } of rows) this.#delete.run(code, fn ?? null, at ?? null, source ?? null);
      more ||= rows.length === trimmedRows;
    }
    return more;
  }

  removeFunction(fn: number): void {
    for (const step of Object.values(rollupStepCode)) this.#deleteFunction.run(step, fn);
  }

  #addPoint(point: RollupPoint, since: number): void {
    const intervals = intervalsOf(point.at);
    const [finest] = intervals;
    if (finest === undefined || finest.begin < since) return;
    const [fn, source] = [this.#names.functionId(point), this.#names.wordId(point.source)];
    if (this.#stored(finest, fn, source) !== undefined) return;
    const { scalings: _, ...counted } = point;
    for (const interval of intervals) {
      this.#merge(interval, fn, source, point);
      // Without its function a scaling says nothing.
      this.#merge(interval, allFunctions, source, counted);
    }
  }

  #merge(interval: Interval, fn: number, source: number, point: RollupPoint): void {
    const merged = withPoint(this.#stored(interval, fn, source) ?? {}, point, interval.begin);
    const { step, begin } = interval;
    this.#put.run(rollupStepCode[step], fn, begin, source, callsIn(merged), JSON.stringify(merged));
  }

  #stored({ step, begin }: Interval, fn: number, source: number): StoredRollup | undefined {
    const found = this.#find.get(rollupStepCode[step], fn, begin, source);
    return found === undefined ? undefined : (JSON.parse(String(found["counts"])) as StoredRollup);
  }
}

type Interval = ReturnType<typeof intervalsOf>[number];
