import type { StatementSync } from "node:sqlite";
import { setImmediate as afterOthers } from "node:timers/promises";

import { parseCallId } from "../../../api/grammar.ts";
import type { FunctionRef } from "../../../core/functions/function-ref.ts";
import { trimPlan, type HistorySize } from "../../../core/history/trim-plan.ts";
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
import { SqliteFile } from "../database/sqlite-file.ts";
import { CallEraser, type ErasePlace } from "./call-eraser.ts";
import { CallTable } from "./call-table.ts";
import { FunctionRemoval } from "./function-removal.ts";
import { historySchema } from "./history-schema.ts";
import { NameTable } from "./name-table.ts";
import { ProgressTable } from "./progress-table.ts";
import { RollupTable } from "./rollup-table.ts";
import { TombstoneTable } from "./tombstone-table.ts";
import { CallTrim } from "./trim-calls.ts";

export interface SqliteWriterOptions {
  readonly file: string;
  /** Called when the file turns out to be damaged: who opens it next moves it aside and begins a new one. */
  readonly onDamaged?: (sentence: string) => void;
  /** Unix milliseconds. */
  readonly now?: () => number;
}

/** The tables of a file, for what is no change of a call. */
export interface HistoryTables {
  readonly calls: Pick<CallTable, "find">;
  readonly rollups: RollupTable;
  readonly tombstones: TombstoneTable;
  readonly progress: ProgressTable;
}

/** Writes the history in a SQLite file, which one process has open for writing. Statements block this process. */
export class SqliteCallHistoryWriter implements CallHistoryWriter, CallErasure {
  readonly #file: SqliteFile;
  readonly #now: () => number;
  readonly #names: NameTable;
  readonly #calls: CallTable;
  readonly #rollups: RollupTable;
  readonly #tombstones: TombstoneTable;
  readonly #progress: ProgressTable;
  readonly #trim: CallTrim;
  readonly #removal: FunctionRemoval;
  readonly #eraser: CallEraser;
  readonly #open: StatementSync;
  readonly #count: StatementSync;

  private constructor(file: SqliteFile, now: () => number) {
    const { database } = file;
    this.#file = file;
    this.#now = now;
    this.#names = new NameTable(database);
    this.#calls = new CallTable(database, this.#names);
    this.#rollups = new RollupTable(database, this.#names);
    this.#tombstones = new TombstoneTable(database);
    this.#progress = new ProgressTable(database);
    this.#trim = new CallTrim(database, this.#calls);
    this.#removal = new FunctionRemoval(database, this.#calls, this.#rollups);
    this.#eraser = new CallEraser(database, this.#calls, this.#tombstones);
    this.#open = database.prepare(
      "SELECT id FROM call INDEXED BY call_open WHERE state < 3 AND id > ? ORDER BY id LIMIT ?",
    );
    this.#count = database.prepare("SELECT coalesce(sum(calls), 0) AS calls FROM state_count");
  }

  /**
   * Opens the file, or creates it, with mode 0600. A damaged one is moved aside first.
   * @throws Error if the file is of a later release
   */
  static async open({ file, onDamaged, now = Date.now }: SqliteWriterOptions): Promise<SqliteCallHistoryWriter> {
    const opened = await SqliteFile.open({ file, schema: historySchema, onDamaged });
    return new SqliteCallHistoryWriter(opened, now);
  }

  /** A sentence, if a damaged file was moved aside. */
  get movedAside(): string | undefined {
    return this.#file.movedAside;
  }

  /** Changes tables in one transaction. */
  change<T>(body: (tables: HistoryTables) => T): T {
    const tables = {
      calls: this.#calls,
      rollups: this.#rollups,
      tombstones: this.#tombstones,
      progress: this.#progress,
    };
    return this.#change(() => body(tables));
  }

  /** Whether a call was removed for good. */
  isRemoved(id: string): boolean {
    return this.#file.read(() => this.#tombstones.ignoring()(id) === Number.POSITIVE_INFINITY);
  }

  async position(): Promise<StreamPosition | undefined> {
    return this.#file.read(() => this.#progress.position());
  }

  async apply({ changes, rollups, position, gap }: HistoryBatch): Promise<void> {
    this.#change(() => {
      const { calls, withdrawn } = projectChanges(changes, {
        find: (id) => this.#calls.find(id),
        ignoredUpTo: this.#tombstones.ignoring(),
      });
      for (const { before, after } of calls)
        if (after !== undefined) this.#calls.put(before, after);
        else if (before !== undefined) this.#calls.remove(before);
      for (const [id, revision] of withdrawn) this.#tombstones.withdraw(id, revision, this.#now());
      this.#rollups.add(rollups);
      if (gap !== undefined) this.#progress.addGap(gap);
      if (position !== undefined) this.#progress.setPosition(position);
    });
  }

  async openCalls(after: string | undefined, limit: number): Promise<readonly string[]> {
    const from = after === undefined ? new Uint8Array(0) : callIdBytes(after);
    return this.#file.read(() => this.#open.all(from, limit).map(({ id }) => callIdText(id as Uint8Array)));
  }

  async markUnknown(ids: readonly string[]): Promise<void> {
    this.#change(() => {
      for (const id of ids) {
        const call = this.#calls.find(id);
        if (call === undefined || !isOpenState(call.row.state)) continue;
        this.#calls.put(call, { ...call, row: { ...call.row, state: "unknown" } });
      }
    });
  }

  async remove(id: string): Promise<boolean> {
    if (parseCallId(id) !== id) return true;
    return this.#change(() => {
      const call = this.#calls.find(id);
      if (call !== undefined && isOpenState(call.row.state)) return false;
      if (call !== undefined) this.#calls.remove(call);
      this.#tombstones.remove(id, this.#now());
      return true;
    });
  }

  async removeNamespace(namespace: string): Promise<void> {
    const removeSome = (): boolean => {
      this.#names.forget();
      return this.#removal.removeSome(namespace);
    };
    while (this.#change(removeSome)) await afterOthers();
  }

  async eraseCalls(ref: FunctionRef): Promise<{ readonly calls: number; readonly open: number }> {
    let [calls, open] = [0, 0];
    let place: ErasePlace | undefined;
    do {
      const part = this.#change(() => this.#eraser.eraseSome(ref, place, this.#now()));
      calls += part.calls;
      open += part.open;
      place = part.next;
      await afterOthers();
    } while (place !== undefined);
    return { calls, open };
  }

  async trim(bounds: HistoryBounds, now: number): Promise<boolean> {
    const plan = trimPlan(this.#sizeWithin(bounds), bounds, now);
    const removed = this.#change(() => {
      const moreAreOld = this.#rollups.trim(plan.rollupsBefore);
      const intervals = this.#rollups.trimBytes(plan.rollupExcess, now);
      // Calls give what rollups do not have.
      const isForCalls = plan.rollupExcess > 0 && intervals === 0;
      const calls = this.#trim.remove(isForCalls ? trimPlan(this.#size(), bounds, now) : plan, now);
      this.#tombstones.trim(now);
      this.#progress.trimGaps(now - bounds.age);
      return { calls, moreRollups: moreAreOld || intervals > 0 };
    });
    this.#change(() => {
      this.#names.forget();
      this.#removal.removeUnused();
    });
    const isShrinking = this.#file.read(() => this.#file.shrink());
    if (isShrinking || removed.moreRollups || removed.calls === plan.limit) return true;
    return removed.calls > 0 && trimPlan(this.#size(), bounds, now).excess > 0;
  }

  async size(): Promise<{ readonly calls: number; readonly bytes: number }> {
    return this.#size();
  }

  /** Closes the file; close what reads it before. */
  async close(): Promise<void> {
    this.#file.close();
  }

  #size(): { readonly calls: number; readonly bytes: number } {
    return this.#file.read(() => ({ calls: Number(this.#count.get()?.["calls"]), bytes: this.#file.bytes() }));
  }

  /** With the bytes of the calls, where that decides what is removed. */
  #sizeWithin(bounds: HistoryBounds): HistorySize {
    const size = this.#size();
    if (size.bytes <= bounds.bytes) return size;
    return { ...size, callBytes: this.#file.read(() => size.calls * this.#trim.bytesOfOne()) };
  }

  #change<T>(body: () => T): T {
    try {
      return this.#file.transaction(() => {
        const result = body();
        this.#calls.writeCounts();
        return result;
      });
    } catch (err) {
      this.#names.forget();
      this.#calls.forget();
      throw err;
    }
  }
}
