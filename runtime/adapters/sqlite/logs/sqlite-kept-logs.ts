import { extname, join } from "node:path";

import type { FunctionRef } from "../../../core/functions/function-ref.ts";
import type { KeptLinePage, KeptLineQuery, KeptLogs } from "../../../core/ports/kept-logs.ts";
import { ReaderProcess } from "../calls/reader-process.ts";
import type { SqliteLogsOptions } from "./sqlite-kept-logs-writer.ts";

export interface SqliteKeptLogsOptions extends SqliteLogsOptions {
  /** Milliseconds that one read may take (1 s). */
  readonly readLimit?: number;
  /** Milliseconds without a read after which the child ends (60 s). */
  readonly idleTimeout?: number;
}

const program = join(import.meta.dirname, `log-reader${extname(import.meta.filename)}`);

/** Reads kept logs in a SQLite file by a child process, which runs while they are read. */
export class SqliteKeptLogs implements KeptLogs {
  readonly #options: SqliteKeptLogsOptions;
  #reader: ReaderProcess | undefined;
  #asking = 0;
  #idle: NodeJS.Timeout | undefined;

  constructor(options: SqliteKeptLogsOptions) {
    this.#options = options;
  }

  /** Of the child that reads now. */
  get readerPid(): number | undefined {
    return this.#reader?.pid;
  }

  lines(query: KeptLineQuery): Promise<KeptLinePage> {
    return this.#ask<KeptLinePage>((reader) => reader.ask({ read: "lines", argument: query }));
  }

  lineReplicas({ namespace, name }: FunctionRef): Promise<readonly string[]> {
    return this.#ask<readonly string[]>((reader) =>
      reader.ask({ read: "lineReplicas", argument: { namespace, name } }),
    );
  }

  async close(): Promise<void> {
    clearTimeout(this.#idle);
    const reader = this.#reader;
    this.#reader = undefined;
    await reader?.close();
  }

  async #ask<T>(ask: (reader: ReaderProcess) => Promise<unknown>): Promise<T> {
    const { file, readLimit = 1_000, idleTimeout = 60_000, onDamaged } = this.#options;
    clearTimeout(this.#idle);
    this.#reader ??= new ReaderProcess({ file, limit: readLimit, patience: 2 * readLimit, onDamaged, program });
    this.#asking += 1;
    try {
      return (await ask(this.#reader)) as T;
    } finally {
      this.#asking -= 1;
      if (this.#asking === 0) this.#idle = setTimeout(() => void this.close(), idleTimeout).unref();
    }
  }
}
