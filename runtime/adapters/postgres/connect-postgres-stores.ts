import { PostgresCallHistory } from "./calls/postgres-call-history.ts";
import { PostgresCallHistoryWriter } from "./calls/postgres-call-history-writer.ts";
import { PostgresDatabase } from "./database/postgres-database.ts";
import { PostgresKeptLogs } from "./logs/postgres-kept-logs.ts";
import { PostgresKeptLogsWriter } from "./logs/postgres-kept-logs-writer.ts";
import type { PostgresStores, PostgresStoresOptions } from "./open-postgres-stores.ts";

/** What `openPostgresStores` loads. */
export async function connectPostgresStores(
  uri: string,
  { keptLogs, limits }: PostgresStoresOptions,
): Promise<PostgresStores> {
  const database = await PostgresDatabase.at(uri, limits);
  try {
    const writer = await PostgresCallHistoryWriter.open(database);
    const lines = keptLogs ? await PostgresKeptLogsWriter.open(database) : undefined;
    return {
      reads: new PostgresCallHistory(database),
      writer,
      logs: lines && { reads: new PostgresKeptLogs(database), writer: lines },
      close: () => database.close(),
    };
  } catch (err) {
    await database.close();
    throw err;
  }
}
