import type { DatabaseSync } from "node:sqlite";

import { PlatformError } from "../../../api/platform-error.ts";
import { openSqlite, type SqliteSchema } from "./open-sqlite.ts";
import { isDamage, markDamaged } from "./sqlite-damage.ts";

export interface SqliteFileOptions {
  readonly file: string;
  readonly schema: SqliteSchema;
  /** Called when the file turns out to be damaged: it is moved aside when it is opened next. */
  readonly onDamaged?: ((sentence: string) => void) | undefined;
}

/** Milliseconds between two checkpoints: the log is written into the file, as far as readers allow. */
const checkpointPeriod = 10_000;
/** Free pages of the file in percent, and in number, above which it shrinks, and the percentage at which it stops. */
const shrinkAt = { percent: 4, pages: 32, until: 2 };
/** Pages by which it shrinks at a time: some milliseconds, in which readers go on. */
const shrinkBy = 512;

/** A file as its one writer has it open. */
export class SqliteFile {
  readonly database: DatabaseSync;
  /** A sentence, if a damaged file was found in its place. */
  readonly movedAside: string | undefined;
  readonly #options: SqliteFileOptions;
  readonly #checkpoints: NodeJS.Timeout;
  #isShrinking = false;

  private constructor(options: SqliteFileOptions, database: DatabaseSync, movedAside: string | undefined) {
    this.#options = options;
    this.database = database;
    this.movedAside = movedAside;
    this.#checkpoints = setInterval(() => this.#checkpoint(), checkpointPeriod).unref();
  }

  static async open(options: SqliteFileOptions): Promise<SqliteFile> {
    const { database, movedAside } = await openSqlite(options.file, options.schema);
    return new SqliteFile(options, database, movedAside);
  }

  /**
   * Runs `body` in a transaction: all that it writes is stored, or nothing is.
   * @throws PlatformError `history_unavailable`
   */
  transaction<T>(body: () => T): T {
    try {
      this.database.exec("BEGIN IMMEDIATE");
      const result = body();
      this.database.exec("COMMIT");
      return result;
    } catch (err) {
      // Some errors, a full disk among them, have ended it already.
      if (this.database.isOpen && this.database.isTransaction) this.database.exec("ROLLBACK");
      throw this.#failure(err);
    }
  }

  /**
   * Runs `body`, which only reads.
   * @throws PlatformError `history_unavailable`
   */
  read<T>(body: () => T): T {
    try {
      return body();
    } catch (err) {
      throw this.#failure(err);
    }
  }

  /** Bytes of the pages in use. */
  bytes(): number {
    const { all, free } = this.#pages();
    return (all - free) * this.#pragma("page_size");
  }

  /** Gives some free pages back, if they are many; true if there may be more. The next checkpoint cuts the file. */
  shrink(): boolean {
    const { all, free } = this.#pages();
    const percent = (100 * free) / all;
    const isTooLarge = free > shrinkAt.pages && percent > (this.#isShrinking ? shrinkAt.until : shrinkAt.percent);
    if (isTooLarge) this.database.exec(`PRAGMA incremental_vacuum(${shrinkBy})`);
    this.#isShrinking = isTooLarge && this.#pages().free < free;
    return this.#isShrinking;
  }

  close(): void {
    clearInterval(this.#checkpoints);
    if (this.database.isOpen) this.database.close();
  }

  #pages(): { readonly all: number; readonly free: number } {
    return { all: this.#pragma("page_count"), free: this.#pragma("freelist_count") };
  }

  #pragma(name: "page_count" | "freelist_count" | "page_size"): number {
    return Number(this.database.prepare(`PRAGMA ${name}`).get()?.[name]);
  }

  #checkpoint(): void {
    try {
      this.database.exec("PRAGMA wal_checkpoint(PASSIVE)");
    } catch (err) {
      // The next one, or the next write, meets any other error again.
      if (isDamage(err)) this.#failure(err);
    }
  }

  #failure(err: unknown): PlatformError {
    const { file, schema, onDamaged } = this.#options;
    if (err instanceof PlatformError) return err;
    const reason = err instanceof Error ? err.message : String(err);
    if (isDamage(err)) {
      markDamaged(file, reason);
      onDamaged?.(`Cannot use file "${file}": ${reason}`);
    }
    return new PlatformError("history_unavailable", `Cannot write ${schema.what}: ${reason}`, { cause: err });
  }
}
