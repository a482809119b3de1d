import { afterAll, beforeAll, expect, test } from "vitest";

import { PostgresCallHistoryWriter } from "../../runtime/adapters/postgres/calls/postgres-call-history-writer.ts";
import { migratePostgres } from "../../runtime/adapters/postgres/database/migrate-postgres.ts";
import { PostgresDatabase } from "../../runtime/adapters/postgres/database/postgres-database.ts";
import { openPostgresStores } from "../../runtime/adapters/postgres/open-postgres-stores.ts";
import { historyChange } from "../support/history-calls.ts";
import { openPostgresServer, type PostgresServer } from "../support/postgres-server.ts";

let server: PostgresServer;
beforeAll(async () => {
  server = await openPostgresServer();
});
afterAll(() => server?.close());

async function withDatabase(uri: string, body: (database: PostgresDatabase) => Promise<void>): Promise<void> {
  const database = await PostgresDatabase.at(uri);
  try {
    await body(database);
  } finally {
    await database.close();
  }
}

test("processes that start at once bring an empty database to this release together", async () => {
  const uri = await server.newDatabase();
  const opened = await Promise.all(Array.from({ length: 5 }, () => openPostgresStores(uri, { keptLogs: true })));
  await Promise.all(opened.map(({ writer }, index) => writer.apply({ changes: [historyChange(index)], rollups: [] })));
  expect((await opened[0]?.reads.list({ filter: {}, limit: 10 }))?.rows).toHaveLength(5);
  for (const { close } of opened) await close();
  const schemas = await server.query(uri, "SELECT what, version FROM weir.schema_version ORDER BY what");
  expect(schemas).toEqual([
    { what: "history", version: 1 },
    { what: "kept logs", version: 1 },
  ]);
  const outside = await server.query(
    uri,
    `SELECT c.relname FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
     WHERE n.nspname NOT IN ('weir', 'pg_catalog', 'pg_toast', 'information_schema')`,
  );
  expect(outside).toEqual([]);
  expect(await server.query(uri, "SELECT extname FROM pg_extension WHERE extname <> 'plpgsql'")).toEqual([]);
});

test("steps are taken in their order, those that are still to come only, and all of them or none", async () => {
  const uri = await server.newDatabase();
  const first = "CREATE TABLE thing (n integer); INSERT INTO thing VALUES (1)";
  await withDatabase(uri, async (database) => {
    await migratePostgres(database, { what: "things", migrations: [first] });
    const second = "INSERT INTO thing VALUES (2)";
    await expect(
      migratePostgres(database, { what: "things", migrations: [first, second, "SELECT none FROM thing"] }),
    ).rejects.toThrow('Cannot open things: column "none" does not exist');
    expect(await server.query(uri, "SELECT n FROM weir.thing")).toEqual([{ n: 1 }]);
    await migratePostgres(database, { what: "things", migrations: [first, second] });
    await migratePostgres(database, { what: "things", migrations: [first, second] });
    expect(await server.query(uri, "SELECT n FROM weir.thing ORDER BY n")).toEqual([{ n: 1 }, { n: 2 }]);
  });
});

test("tables of a later release are not opened, and not touched", async () => {
  const uri = await server.newDatabase();
  await withDatabase(uri, async (database) => {
    await PostgresCallHistoryWriter.open(database);
    await server.query(uri, "UPDATE weir.schema_version SET version = 7");
    await expect(openPostgresStores(uri, { keptLogs: false })).rejects.toThrow(
      "Cannot open history: it is of schema 7, this release knows 1",
    );
    expect(await server.query(uri, "SELECT version FROM weir.schema_version")).toEqual([{ version: 7 }]);
  });
});

test("a user who may create nothing but in schema weir is enough", async () => {
  const uri = await server.newDatabase();
  const { pathname } = new URL(uri);
  await server.query(
    uri,
    `CREATE ROLE keeper LOGIN PASSWORD 'kept'; CREATE SCHEMA weir AUTHORIZATION keeper;
     REVOKE ALL ON DATABASE ${pathname.slice(1)} FROM PUBLIC; GRANT CONNECT ON DATABASE ${pathname.slice(1)} TO keeper`,
  );
  const keeper = `postgres://keeper:kept@127.0.0.1:${server.port}${pathname}`;
  const { writer, close } = await openPostgresStores(keeper, { keptLogs: true });
  await writer.apply({ changes: [historyChange(1)], rollups: [] });
  expect(await writer.size()).toMatchObject({ calls: 1 });
  await close();
});

test("a database of another encoding is refused", async () => {
  const uri = await server.newDatabase();
  await server.query(uri, "CREATE DATABASE latin ENCODING 'LATIN1' TEMPLATE template0");
  const latin = uri.replace(/history\d+$/, "latin");
  await expect(openPostgresStores(latin, { keptLogs: false })).rejects.toThrow(
    "Cannot open history: the encoding of the database is LATIN1, UTF8 is needed",
  );
});
