import type { StatementSync } from "node:sqlite";
import { setImmediate as afterOthers } from "node:timers/promises";

import type { FunctionRef } from "../../../core/functions/function-ref.ts";
import type { LineErasure } from "../../../core/ports/history-erasure.ts";
import type {
  FollowedLine,
  KeptLogBounds,
  KeptLogsWriter,
  LinePlace,
  LogPosition,
} from "../../../core/ports/kept-logs.ts";
import { SqliteFile } from "../database/sqlite-file.ts";
import { LineTable, positionIn, type StoredLine } from "./line-table.ts";
import { logsSchema } from "./logs-schema.ts";
import { LineTrim } from "./trim-lines.ts";

export interface SqliteLogsOptions {
  readonly file: string;
  /** Called when the file turns out to be damaged: who opens it next moves it aside and begins a new one. */
  readonly onDamaged?: ((sentence: string) => void) | undefined;
}

/** Lines that are removed in one transaction. */
const removedAtOnce = 1_000;

/** Writes kept logs in a SQLite file, which one process has open for writing. Statements block this process. */
export class SqliteKeptLogsWriter implements KeptLogsWriter, LineErasure {
  readonly #file: SqliteFile;
  readonly #lines: LineTable;
  readonly #trim: LineTrim;
  readonly #positions: StatementSync;
  readonly #line: StatementSync;
  readonly #namespaces: StatementSync;
  readonly #functionOf: StatementSync;
  readonly #linesOf: StatementSync;
  readonly #forgetReplicas: StatementSync;
  readonly #forgetFunction: StatementSync;
  readonly #count: StatementSync;

  private constructor(file: SqliteFile) {
    const { database } = file;
    this.#file = file;
    this.#lines = new LineTable(database);
    this.#trim = new LineTrim(database, this.#lines);
    this.#positions = database.prepare("SELECT name, at, nanos, number FROM replica WHERE fn = ?");
    this.#line = database.prepare("SELECT seq, fn, size FROM line WHERE seq = ? AND fn = ?");
    this.#namespaces = database.prepare("SELECT DISTINCT namespace FROM function ORDER BY namespace");
    this.#functionOf = database.prepare("SELECT id FROM function WHERE namespace = ? LIMIT 1");
    this.#linesOf = database.prepare("SELECT seq, fn, size FROM line INDEXED BY line_by_function WHERE fn = ? LIMIT ?");
    this.#forgetReplicas = database.prepare("DELETE FROM replica WHERE fn = ?");
    this.#forgetFunction = database.prepare("DELETE FROM function WHERE id = ?");
    this.#count = database.prepare("SELECT coalesce(sum(lines), 0) AS lines FROM function");
  }

  /**
   * Opens the file, or creates it, with mode 0600. A damaged one is moved aside first.
   * @throws Error if the file is of a later release
   */
  static async open({ file, onDamaged }: SqliteLogsOptions): Promise<SqliteKeptLogsWriter> {
    const opened = await SqliteFile.open({ file, schema: logsSchema, onDamaged });
    // Lines are written at the end of each index; the history of calls needs its memory more.
    opened.database.exec("PRAGMA cache_size = -1024");
    return new SqliteKeptLogsWriter(opened);
  }

  /** A sentence, if a damaged file was moved aside. */
  get movedAside(): string | undefined {
    return this.#file.movedAside;
  }

  async positions(ref: FunctionRef): Promise<ReadonlyMap<string, LogPosition>> {
    const rows = this.#file.read(() => {
      const fn = this.#lines.functionId(ref);
      return fn === undefined ? [] : this.#positions.all(fn);
    });
    return new Map(
      rows.flatMap((row) => {
        const position = positionIn(row);
        return position === undefined ? [] : [[String(row["name"]), position] as const];
      }),
    );
  }

  async append(lines: readonly FollowedLine[]): Promise<void> {
    this.#change(() => {
      for (const line of lines) this.#lines.add(line);
    });
  }

  async remove(ref: FunctionRef, places: readonly LinePlace[]): Promise<void> {
    for (let from = 0; from < places.length; from += removedAtOnce) {
      this.#change(() => {
        const fn = this.#lines.functionId(ref);
        if (fn === undefined) return;
        const found = places.slice(from, from + removedAtOnce).flatMap(([, , seq]) => this.#line.all(seq, fn));
        this.#lines.remove(found.map(storedLine));
      });
      await afterOthers();
    }
  }

  async eraseLines(ref: FunctionRef): Promise<number> {
    let removed = 0;
    let count: number;
    do {
      count = this.#change(() => {
        const fn = this.#lines.functionId(ref);
        const found = fn === undefined ? [] : this.#linesOf.all(fn, removedAtOnce).map(storedLine);
        this.#lines.remove(found);
        return found.length;
      });
      removed += count;
      await afterOthers();
    } while (count === removedAtOnce);
    return removed;
  }

  async namespaces(): Promise<readonly string[]> {
    return this.#file.read(() => this.#namespaces.all().map(({ namespace }) => String(namespace)));
  }

  async removeNamespace(namespace: string): Promise<void> {
    while (this.#change(() => this.#removeSome(namespace))) {
      this.#lines.forget();
      await afterOthers();
    }
  }

  async trim(bounds: KeptLogBounds, now: number): Promise<boolean> {
    const more = this.#change(() => this.#trim.remove(bounds, this.#file.bytes() - bounds.bytes, now));
    this.#change(() => {
      this.#trim.removeUnused(bounds.age, now);
      this.#lines.forget();
    });
    const isShrinking = this.#file.read(() => this.#file.shrink());
    return more || isShrinking;
  }

  async size(): Promise<{ readonly lines: number; readonly bytes: number }> {
    return this.#file.read(() => ({ lines: Number(this.#count.get()?.["lines"]), bytes: this.#file.bytes() }));
  }

  /** Closes the file; close what reads it before. */
  async close(): Promise<void> {
    this.#file.close();
  }

  /** Removes some lines, or a function that has none; true if there may be more. */
  #removeSome(namespace: string): boolean {
    const found = this.#functionOf.get(namespace);
    if (found === undefined) return false;
    const fn = Number(found["id"]);
    const lines = this.#linesOf.all(fn, removedAtOnce).map(storedLine);
    this.#lines.remove(lines);
    if (lines.length === removedAtOnce) return true;
    this.#forgetReplicas.run(fn);
    this.#forgetFunction.run(fn);
    return true;
  }

  #change<T>(body: () => T): T {
    try {
      return this.#file.transaction(() => {
        const result = body();
        this.#lines.writeChanges();
        return result;
      });
    } catch (err) {
      this.#lines.forget();
      throw err;
    }
  }
}

function storedLine(row: Readonly<Record<string, unknown>>): StoredLine {
  return { seq: Number(row["seq"]), fn: Number(row["fn"]), size: Number(row["size"]) };
}
