import { DatabaseSync } from "node:sqlite";

import { SqlCallHistory } from "../../sql/calls/sql-call-history.ts";
import { isDamage } from "../database/sqlite-damage.ts";
import { SqliteReader } from "../database/sqlite-reader.ts";
import { reportDamagedFile, unreadableHistory, type WatchedFile } from "./unreadable-history.ts";

interface OpenedFile {
  readonly database: DatabaseSync;
  readonly history: SqlCallHistory;
}

/** Reads of tables that stay small, in this process: it makes them every few seconds, which would keep a child running. */
export class ShortReads {
  readonly #watched: WatchedFile;
  #opened: OpenedFile | undefined;
  #isClosed = false;

  /** The file is opened by the first read. */
  constructor(watched: WatchedFile) {
    this.#watched = watched;
  }

  /** Rejects with PlatformError `history_unavailable`. */
  async read<T>(body: (history: SqlCallHistory) => Promise<T>): Promise<T> {
    if (this.#isClosed) throw unreadableHistory("it is closed");
    try {
      this.#opened ??= open(this.#watched.file);
      return await body(this.#opened.history);
    } catch (err) {
      const reason = err instanceof Error ? err.message : String(err);
      if (isDamage(err)) reportDamagedFile(this.#watched, reason);
      throw unreadableHistory(reason);
    }
  }

  close(): void {
    this.#isClosed = true;
    this.#opened?.database.close();
    this.#opened = undefined;
  }
}

function open(file: string): OpenedFile {
  const database = new DatabaseSync(file, { readOnly: true, timeout: 500 });
  database.exec("PRAGMA cache_size = -512");
  return { database, history: new SqlCallHistory(new SqliteReader(database)) };
}
