import { join } from "node:path";

import { SqliteCallHistory } from "./calls/sqlite-call-history.ts";
import { SqliteCallHistoryWriter } from "./calls/sqlite-call-history-writer.ts";
import { SqliteKeptLogs } from "./logs/sqlite-kept-logs.ts";
import { SqliteKeptLogsWriter } from "./logs/sqlite-kept-logs-writer.ts";

export interface SqliteStoresOptions {
  /** Called when a file turns out to be damaged: who opens it next begins a new one. */
  readonly onDamaged: (sentence: string) => void;
  /** Whether log lines are kept, too. */
  readonly keptLogs: boolean;
}

/** The files of a history, open for its one writer. */
export interface SqliteStores {
  readonly reads: SqliteCallHistory;
  readonly writer: SqliteCallHistoryWriter;
  readonly logs: { readonly reads: SqliteKeptLogs; readonly writer: SqliteKeptLogsWriter } | undefined;
  readonly close: () => Promise<void>;
}

/**
 * Opens `calls.db` and `logs.db` in a directory, or creates them, with mode 0600.
 * @throws Error if one is of a later release
 */
export async function openSqliteStores(
  directory: string,
  { onDamaged, keptLogs }: SqliteStoresOptions,
): Promise<SqliteStores> {
  const calls = { file: join(directory, "calls.db"), onDamaged };
  const lines = { file: join(directory, "logs.db"), onDamaged };
  const writer = await SqliteCallHistoryWriter.open(calls);
  const lineWriter = keptLogs ? await openOrClose(lines, writer) : undefined;
  const reads = new SqliteCallHistory(calls);
  const logs = lineWriter && { reads: new SqliteKeptLogs(lines), writer: lineWriter };
  return {
    reads,
    writer,
    logs,
    close: async () => {
      await Promise.all([reads.close(), logs?.reads.close()]);
      await Promise.all([writer.close(), logs?.writer.close()]);
    },
  };
}

async function openOrClose(
  options: { readonly file: string; readonly onDamaged: (sentence: string) => void },
  opened: SqliteCallHistoryWriter,
): Promise<SqliteKeptLogsWriter> {
  try {
    return await SqliteKeptLogsWriter.open(options);
  } catch (err) {
    await opened.close();
    throw err;
  }
}
