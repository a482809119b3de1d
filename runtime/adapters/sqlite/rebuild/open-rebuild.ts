import { SqliteCallHistory } from "../calls/sqlite-call-history.ts";
import type { SqliteCallHistoryWriter } from "../calls/sqlite-call-history-writer.ts";
import { readFormer } from "../database/former-file.ts";
import { RebuiltReads, type ClosableHistory } from "./rebuilt-reads.ts";
import { SqliteHistoryRebuild } from "./sqlite-history-rebuild.ts";

/** What reads a file, and what fills it if another one was in its place. */
export interface OpenedRebuild {
  readonly reads: ClosableHistory;
  readonly rebuild: SqliteHistoryRebuild | undefined;
}

/** Goes on with the rebuild of a file, if one was begun; `current` reads the file. */
export async function openRebuild(
  file: string,
  writer: SqliteCallHistoryWriter,
  current: ClosableHistory,
): Promise<OpenedRebuild> {
  const former = await readFormer(file);
  if (former === undefined) return { reads: current, rebuild: undefined };
  const before = new SqliteCallHistory({ file: former.path });
  const reads = new RebuiltReads({ current, former: before, isRemoved: (id) => writer.isRemoved(id) });
  return { reads, rebuild: new SqliteHistoryRebuild({ file, former, writer, reads }) };
}
