import { PlatformError } from "../../../api/platform-error.ts";
import type { PostgresDatabase } from "./postgres-database.ts";
import type { PostgresTransaction } from "./postgres-pool.ts";

/** What some tables of the schema are expected to be. */
export interface PostgresSchema {
  /** Completes the sentence "Cannot open …"; also the key of its version. */
  readonly what: string;
  /** What leads from each schema to the next; there are as many schemas. */
  readonly migrations: readonly string[];
}

/** The oldest release that is supported, as the server numbers it. */
const oldestServer = 150_000;

/**
 * Brings tables to the newest schema, in one transaction and in one process at a time. The schema "weir" is created if it
 * does not exist.
 * @throws PlatformError if they are of a later release, or the server is too old
 */
export async function migratePostgres(database: PostgresDatabase, schema: PostgresSchema): Promise<void> {
  const { what, migrations } = schema;
  await database.migrate(what, async (transaction) => {
    await checkServer(transaction, what);
    const version = await schemaVersion(transaction, what);
    if (version > migrations.length)
      throw refusal(what, `it is of schema ${version}, this release knows ${migrations.length}`);
    if (version === migrations.length) return;
    for (const migration of migrations.slice(version)) await transaction.all(migration);
    await transaction.all(
      `INSERT INTO schema_version (what, version) VALUES ($1, $2)
       ON CONFLICT (what) DO UPDATE SET version = excluded.version`,
      [what, migrations.length],
    );
  });
}

async function checkServer(transaction: PostgresTransaction, what: string): Promise<void> {
  const [server] = await transaction.all(
    `SELECT current_setting('server_version_num') AS number, current_setting('server_version') AS version,
       current_setting('server_encoding') AS encoding`,
  );
  const { number, version, encoding } = server ?? {};
  if (Number(number) < oldestServer) throw refusal(what, `PostgreSQL is ${String(version)}, 15 or later is needed`);
  if (encoding !== "UTF8") throw refusal(what, `the encoding of the database is ${String(encoding)}, UTF8 is needed`);
}

/** 0 where nothing is yet. */
async function schemaVersion(transaction: PostgresTransaction, what: string): Promise<number> {
  const [schema] = await transaction.all("SELECT 1 FROM pg_namespace WHERE nspname = 'weir'");
  // Who may not create schemas may be given this one.
  if (schema === undefined) await transaction.all("CREATE SCHEMA weir");
  const [table] = await transaction.all("SELECT to_regclass('weir.schema_version') AS found");
  if (table?.["found"] === null)
    await transaction.all("CREATE TABLE schema_version (what text PRIMARY KEY, version integer NOT NULL)");
  const [found] = await transaction.all("SELECT version FROM schema_version WHERE what = $1", [what]);
  return Number(found?.["version"] ?? 0);
}

function refusal(what: string, reason: string): PlatformError {
  return new PlatformError("history_unavailable", `Cannot open ${what}: ${reason}`);
}
