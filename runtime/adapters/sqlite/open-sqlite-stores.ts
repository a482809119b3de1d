import { join } from "node:path";

import type { HistoryRebuild } from "../../core/ports/history-rebuild.ts";
import { SqliteCallHistory } from "./calls/sqlite-call-history.ts";
import { SqliteCallHistoryWriter } from "./calls/sqlite-call-history-writer.ts";
import { obeyRebuildRequest, requestRebuild } from "./database/former-file.ts";
import { SqliteKeptLogs } from "./logs/sqlite-kept-logs.ts";
import { SqliteKeptLogsWriter } from "./logs/sqlite-kept-logs-writer.ts";
import { openRebuild } from "./rebuild/open-rebuild.ts";
import type { ClosableHistory } from "./rebuild/rebuilt-reads.ts";

export interface SqliteStoresOptions {
  /** Called when a file turns out to be damaged: who opens it next begins a new one. */
  readonly onDamaged: (sentence: string) => void;
  /** Whether log lines are kept, too. */
  readonly keptLogs: boolean;
}

/** The files of a history, open for its one writer. */
export interface SqliteStores {
  readonly reads: ClosableHistory;
  readonly writer: SqliteCallHistoryWriter;
  readonly logs: { readonly reads: SqliteKeptLogs; readonly writer: SqliteKeptLogsWriter } | undefined;
  /** Present while `calls.db` is to be filled from the file that was in its place. */
  readonly rebuild: HistoryRebuild | undefined;
  /** Notes that `calls.db` is rebuilt when it is opened next. */
  readonly requestRebuild: () => Promise<void>;
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
  const file = join(directory, "calls.db");
  const lines = { file: join(directory, "logs.db"), onDamaged };
  await obeyRebuildRequest(file);
  const writer = await SqliteCallHistoryWriter.open({ file, onDamaged });
  const lineWriter = keptLogs ? await openOrClose(lines, writer) : undefined;
  const { reads, rebuild } = await openRebuild(file, writer, new SqliteCallHistory({ file, onDamaged }));
  const logs = lineWriter && { reads: new SqliteKeptLogs(lines), writer: lineWriter };
  return {
    reads,
    writer,
    logs,
    rebuild,
    requestRebuild: () => requestRebuild(file, "it was asked for"),
    close: async () => {
      rebuild?.close();
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
