import type { PostgresCallHistory } from "./calls/postgres-call-history.ts";
import type { PostgresCallHistoryWriter } from "./calls/postgres-call-history-writer.ts";
import type { PostgresLimits } from "./database/postgres-database.ts";
import type { PostgresKeptLogs } from "./logs/postgres-kept-logs.ts";
import type { PostgresKeptLogsWriter } from "./logs/postgres-kept-logs-writer.ts";

export interface PostgresStoresOptions {
  /** Whether log lines are kept, too. */
  readonly keptLogs: boolean;
  readonly limits?: PostgresLimits;
}

/** A history in PostgreSQL, which several processes may have open. */
export interface PostgresStores {
  readonly reads: PostgresCallHistory;
  readonly writer: PostgresCallHistoryWriter;
  readonly logs: { readonly reads: PostgresKeptLogs; readonly writer: PostgresKeptLogsWriter } | undefined;
  readonly close: () => Promise<void>;
}

/**
 * Opens the history in schema "weir" of the database of a connection URI, and brings it to this release. The driver is
 * loaded then: it takes 4 MB that a history in files can do without.
 * @throws Error if the URI cannot be read, the database cannot be reached, or it is of a later release; its sentence shows
 * no password
 */
export async function openPostgresStores(uri: string, options: PostgresStoresOptions): Promise<PostgresStores> {
  const { connectPostgresStores } = await import("./connect-postgres-stores.ts");
  return connectPostgresStores(uri, options);
}
