import { extname, join } from "node:path";

import type { FunctionRef } from "../../../core/functions/function-ref.ts";
import type { KeptLinePage, KeptLineQuery, KeptLogs } from "../../../core/ports/kept-logs.ts";
import type { LogReadRequest } from "../calls/reader-messages.ts";
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

  constructor(options: SqliteKeptLogsOptions) {
    this.#options = options;
  }

  /** Of the child that reads now. */
  get readerPid(): number | undefined {
    return this.#reader?.pid;
  }

  async lines(query: KeptLineQuery): Promise<KeptLinePage> {
    return (await this.#ask({ read: "lines", argument: query })) as KeptLinePage;
  }

  async lineReplicas({ namespace, name }: FunctionRef): Promise<readonly string[]> {
    return (await this.#ask({ read: "lineReplicas", argument: { namespace, name } })) as readonly string[];
  }

  async close(): Promise<void> {
    await this.#reader?.close();
  }

  #ask(request: LogReadRequest): Promise<unknown> {
    const { file, readLimit = 1_000, idleTimeout, onDamaged } = this.#options;
    const limits = { limit: readLimit, patience: 2 * readLimit, idleTimeout };
    this.#reader ??= new ReaderProcess({ file, ...limits, onDamaged, program });
    return this.#reader.ask(request);
  }
}
