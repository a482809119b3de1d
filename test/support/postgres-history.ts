import { PostgresCallHistory } from "../../runtime/adapters/postgres/calls/postgres-call-history.ts";
import { PostgresCallHistoryWriter } from "../../runtime/adapters/postgres/calls/postgres-call-history-writer.ts";
import { PostgresDatabase, type PostgresLimits } from "../../runtime/adapters/postgres/database/postgres-database.ts";
import type { PostgresServer } from "./postgres-server.ts";

/** An empty history in a database of its own. */
export interface PostgresHistory extends AsyncDisposable {
  readonly uri: string;
  readonly database: PostgresDatabase;
  readonly reads: PostgresCallHistory;
  readonly writer: PostgresCallHistoryWriter;
  /** Runs a statement beside it, with its schema. */
  query(text: string, values?: readonly unknown[]): Promise<readonly Record<string, unknown>[]>;
  close(): Promise<void>;
}

/** What is tested is not how fast it is; a busy machine may take longer than the default. */
export const patientReads: PostgresLimits = { read: 30_000 };

export async function openPostgresHistory(
  server: PostgresServer,
  limits: PostgresLimits = patientReads,
): Promise<PostgresHistory> {
  const uri = await server.newDatabase();
  const database = await PostgresDatabase.at(uri, limits);
  const close = (): Promise<void> => database.close();
  try {
    const writer = await PostgresCallHistoryWriter.open(database);
    return {
      uri,
      database,
      writer,
      reads: new PostgresCallHistory(database),
      query: (text, values) => server.query(`${uri}?options=-csearch_path%3Dweir`, text, values),
      close,
      [Symbol.asyncDispose]: close,
    };
  } catch (err) {
    await close();
    throw err;
  }
}
