import type { FunctionRef } from "../../../core/functions/function-ref.ts";
import type { HistoryCall } from "../../../core/history/history-row.ts";
import type { RollupSeries } from "../../../core/history/rollups/rollup.ts";
import type {
  CallHistory,
  CallListQuery,
  CallPage,
  HistoryGap,
  RollupQuery,
} from "../../../core/ports/call-history.ts";
import { ReaderProcess } from "./reader-process.ts";

export interface SqliteHistoryOptions {
  /** Open for writing in this process, or on this machine. */
  readonly file: string;
  /** Milliseconds that one read may take (1 s). */
  readonly readLimit?: number;
  /** Called when the file turns out to be damaged. */
  readonly onDamaged?: (sentence: string) => void;
}

/** Reads the history in a SQLite file by a child process, so that no statement blocks this one. */
export class SqliteCallHistory implements CallHistory {
  readonly #reader: ReaderProcess;

  /** Starts the child; `close` ends it. */
  constructor({ file, readLimit = 1_000, onDamaged }: SqliteHistoryOptions) {
    // Who asks has given up by then.
    this.#reader = new ReaderProcess({ file, limit: readLimit, patience: 2 * readLimit, onDamaged });
  }

  /** Of the child that reads now. */
  get readerPid(): number | undefined {
    return this.#reader.pid;
  }

  async list(query: CallListQuery): Promise<CallPage> {
    return (await this.#reader.ask({ read: "list", argument: query })) as CallPage;
  }

  async get(id: string): Promise<HistoryCall | undefined> {
    return (await this.#reader.ask({ read: "get", argument: id })) as HistoryCall | undefined;
  }

  async replaysOf(id: string): Promise<readonly string[]> {
    return (await this.#reader.ask({ read: "replaysOf", argument: id })) as readonly string[];
  }

  async functions(): Promise<readonly FunctionRef[]> {
    return (await this.#reader.ask({ read: "functions" })) as readonly FunctionRef[];
  }

  async gaps(): Promise<readonly HistoryGap[]> {
    return (await this.#reader.ask({ read: "gaps" })) as readonly HistoryGap[];
  }

  async rollups(query: RollupQuery): Promise<readonly RollupSeries[]> {
    return (await this.#reader.ask({ read: "rollups", argument: query })) as readonly RollupSeries[];
  }

  async close(): Promise<void> {
    await this.#reader.close();
  }
}
