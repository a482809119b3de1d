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
import { ShortReads } from "./short-reads.ts";
import type { WatchedFile } from "./unreadable-history.ts";

/** `file` is open for writing in this process, or on this machine. */
export interface SqliteHistoryOptions extends WatchedFile {
  /** Milliseconds that one read may take (1 s). */
  readonly readLimit?: number;
  /** Milliseconds without a read after which the child ends (60 s). */
  readonly idleTimeout?: number;
}

/**
 * Reads the history in a SQLite file by a child process, which runs while it is read, so that no statement blocks this
 * one. Gaps and functions are few, and the history process itself asks for them all the time: it reads them here.
 */
export class SqliteCallHistory implements CallHistory {
  readonly #reader: ReaderProcess;
  readonly #short: ShortReads;

  constructor({ file, readLimit = 1_000, idleTimeout, onDamaged }: SqliteHistoryOptions) {
    // Who asks has given up by then.
    this.#reader = new ReaderProcess({ file, limit: readLimit, patience: 2 * readLimit, idleTimeout, onDamaged });
    this.#short = new ShortReads({ file, onDamaged });
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

  functions(): Promise<readonly FunctionRef[]> {
    return this.#short.read((history) => history.functions());
  }

  gaps(): Promise<readonly HistoryGap[]> {
    return this.#short.read((history) => history.gaps());
  }

  async rollups(query: RollupQuery): Promise<readonly RollupSeries[]> {
    return (await this.#reader.ask({ read: "rollups", argument: query })) as readonly RollupSeries[];
  }

  async close(): Promise<void> {
    this.#short.close();
    await this.#reader.close();
  }
}
