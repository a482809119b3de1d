import type { DatabaseSync, StatementSync } from "node:sqlite";

import type { FunctionRef } from "../../../core/functions/function-ref.ts";
import { rollupSteps, type RollupPoint, type RollupStep } from "../../../core/history/rollups/rollup.ts";
import { projectRollups, rollupKeys, rollupKeyText, type RollupKey } from "../../sql/rollups/project-rollups.ts";
import { allFunctions, rollupStepCode } from "../../sql/rollups/rollup-codes.ts";
import type { StoredRollup } from "../../sql/rollups/stored-rollup.ts";
import type { NameTable } from "./name-table.ts";

/** Rows that a trim deletes of one step. */
const trimmedRows = 5_000;
/** Bytes of a row beside its counts: its key, which its index has once more. */
const besideCounts = 45;

/** What one process counted in one interval, as it is in its file. */
export interface StoredInterval {
  readonly step: number;
  /** Undefined = all functions together. */
  readonly function: FunctionRef | undefined;
  readonly at: number;
  readonly source: string;
  readonly calls: number;
  readonly counts: string;
}

/** The rollups of a file: of each function, and of all together, in every step. To be used in a transaction. */
export class RollupTable {
  readonly #names: NameTable;
  readonly #since: StatementSync;
  readonly #setSince: StatementSync;
  readonly #find: StatementSync;
  readonly #put: StatementSync;
  readonly #adopt: StatementSync;
  readonly #oldest: StatementSync;
  readonly #oldestSizes: StatementSync;
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
    this.#adopt = database.prepare("INSERT INTO rollup VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING");
    this.#oldest = database.prepare(
      `SELECT fn, at, source FROM rollup INDEXED BY rollup_by_age WHERE step = ? AND at < ? ORDER BY at LIMIT ?`,
    );
    this.#oldestSizes = database.prepare(
      `SELECT fn, at, source, length(counts) AS size FROM rollup INDEXED BY rollup_by_age
       WHERE step = ? AND at < ? ORDER BY at LIMIT ?`,
    );
    this.#delete = database.prepare("DELETE FROM rollup WHERE step = ? AND fn = ? AND at = ? AND source = ?");
    this.#deleteFunction = database.prepare("DELETE FROM rollup WHERE step = ? AND fn = ?");
  }

  /** Adds points. The interval of 10 s tells whether one was added before, so one that is older is ignored. */
  add(points: readonly RollupPoint[]): void {
    if (points.length === 0) return;
    const named = points.map((point) => ({
      point,
      fn: this.#names.functionId(point),
      source: this.#names.wordId(point.source),
    }));
    const stored = new Map<string, StoredRollup>();
    for (const key of rollupKeys(named)) {
      const counts = this.#stored(key);
      if (counts !== undefined) stored.set(rollupKeyText(key), counts);
    }
    const since = Number(this.#since.get()?.["rollups_since"]);
    for (const { step, fn, at, source, calls, counts } of projectRollups(named, since, stored))
      this.#put.run(step, fn, at, source, calls, JSON.stringify(counts));
  }

  /** Stores intervals of another file, before any point is added. */
  adopt(intervals: readonly StoredInterval[]): void {
    for (const { step, function: ref, at, source, calls, counts } of intervals) {
      const fn = ref === undefined ? allFunctions : this.#names.functionId(ref);
      this.#adopt.run(step, fn, at, this.#names.wordId(source), calls, counts);
    }
  }

  /** Points that began before are ignored. */
  ignoreBefore(time: number): void {
    this.#setSince.run(time);
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

  /** Deletes some of the oldest intervals, the finest first, until they had so many bytes; returns how many it deleted. */
  trimBytes(excess: number, now: number): number {
    let left = excess;
    let deleted = 0;
    for (const step of Object.keys(rollupStepCode) as RollupStep[]) {
      if (left <= 0 || deleted > 0) break;
      const { length } = rollupSteps[step];
      // An interval that is not over would begin anew, and have less than was counted.
      const rows = this.#oldestSizes.all(rollupStepCode[step], now - 2 * length, trimmedRows);
      for (const { fn, at, source, size } of rows) {
        if (left <= 0) break;
        this.#delete.run(rollupStepCode[step], fn ?? null, at ?? null, source ?? null);
        // Whether a point came before is not known any more.
        if (step === "10s") this.#setSince.run(Number(at) + length);
        left -= Number(size) + besideCounts;
        deleted += 1;
      }
    }
    return deleted;
  }

  removeFunction(fn: number): void {
    for (const step of Object.values(rollupStepCode)) this.#deleteFunction.run(step, fn);
  }

  #stored({ step, fn, at, source }: RollupKey): StoredRollup | undefined {
    const found = this.#find.get(step, fn, at, source);
    return found === undefined ? undefined : (JSON.parse(String(found["counts"])) as StoredRollup);
  }
}
