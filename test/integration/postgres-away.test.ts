import { inspect } from "node:util";

import { Client } from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";

import { PostgresCallHistory } from "../../runtime/adapters/postgres/calls/postgres-call-history.ts";
import { PostgresCallHistoryWriter } from "../../runtime/adapters/postgres/calls/postgres-call-history-writer.ts";
import { PostgresDatabase } from "../../runtime/adapters/postgres/database/postgres-database.ts";
import { openPostgresStores } from "../../runtime/adapters/postgres/open-postgres-stores.ts";
import { openChaosProxy } from "../support/chaos-proxy.ts";
import { eventually } from "../support/eventually.ts";
import { batchOfOne, firstNumbers, historyChange } from "../support/history-calls.ts";
import { openPostgresHistory, patientReads } from "../support/postgres-history.ts";
import { openPostgresServer, type PostgresServer } from "../support/postgres-server.ts";

let server: PostgresServer;
beforeAll(async () => {
  server = await openPostgresServer();
});
afterAll(() => server?.close());

/** A connection of a test, which holds what a test says. */
async function otherClient(uri: string): Promise<Client & AsyncDisposable> {
  const client = new Client({ connectionString: uri });
  await client.connect();
  return Object.assign(client, { [Symbol.asyncDispose]: () => client.end() });
}

test("a read over the limit is ended, those beside it are not, and its connection is used again", async () => {
  await using history = await openPostgresHistory(server, { read: 1_000 });
  const { reads, uri, writer, database } = history;
  await writer.apply(batchOfOne(1));
  const blocked = await otherClient(uri);
  await blocked.query("BEGIN; LOCK TABLE weir.gap IN ACCESS EXCLUSIVE MODE");
  const began = performance.now();
  const waiting = reads.gaps();
  expect(await firstNumbers(reads)).toEqual([1]);
  await expect(waiting).rejects.toMatchObject({
    code: "history_unavailable",
    message: "Cannot read history: it took longer than 1000 ms",
  });
  expect(performance.now() - began).toBeGreaterThan(900);
  const { connections } = database;
  await blocked.query("ROLLBACK");
  await blocked.end();
  expect(await reads.gaps()).toEqual([]);
  expect(database.connections).toBe(connections);
});

test("a read whose statements are quick, but many, ends at the limit as well", async () => {
  await using history = await openPostgresHistory(server, { read: 500 });
  await history.writer.apply(batchOfOne(1));
  await history.query(`ALTER TABLE state_count RENAME TO slow_count;
    CREATE VIEW state_count AS SELECT state, calls FROM slow_count, pg_sleep(0.3)`);
  await history.query(`ALTER TABLE function RENAME TO slow_function;
    CREATE VIEW function AS SELECT id, namespace, name, calls FROM slow_function, pg_sleep(0.3)`);
  await expect(history.reads.list({ filter: { namespace: "functions" }, limit: 1 })).rejects.toThrow(
    "Cannot read history: it took longer than 500 ms",
  );
});

test("more reads than connections wait for each other, and too many are rejected", async () => {
  await using history = await openPostgresHistory(server, { read: 1_000 });
  const { reads, uri, database } = history;
  await using blocked = await otherClient(uri);
  await blocked.query("BEGIN; LOCK TABLE weir.gap IN ACCESS EXCLUSIVE MODE");
  const all = await Promise.allSettled(Array.from({ length: 40 }, () => reads.gaps()));
  const reasons = new Set(all.map((each) => (each.status === "rejected" ? String(each.reason.message) : "resolved")));
  expect([...reasons].toSorted()).toEqual([
    "Cannot read history: it took longer than 1000 ms",
    "Cannot read history: too many reads wait",
  ]);
  expect(database.connections).toBeLessThanOrEqual(8 + 4);
});

test("a server that is away is named by each read and write, and both go on when it is back", async () => {
  await using history = await openPostgresHistory(server);
  const { reads, writer, uri, database } = history;
  await writer.apply(batchOfOne(1));
  expect(await firstNumbers(reads)).toEqual([1]);
  const away = `PostgreSQL at "127.0.0.1:${server.port}" cannot be reached: `;
  for (const end of [() => server.stop(), () => server.crash()]) {
    await end();
    // The first ones may still have a connection that broke.
    for (let attempt = 0; attempt < 20; attempt += 1) {
      await expect(firstNumbers(reads)).rejects.toThrow(`Cannot read history: ${away}`);
      await expect(writer.apply(batchOfOne(2))).rejects.toThrow(`Cannot write history: ${away}`);
      await expect(writer.position()).rejects.toThrow(`Cannot read history: ${away}`);
    }
    const failure: unknown = await writer.apply(batchOfOne(2)).catch((err: unknown) => err);
    expect(failure).toMatchObject({ code: "history_unavailable" });
    const shown = inspect(failure, { depth: 20, showHidden: false });
    for (const secret of [server.password, encodeURIComponent(server.password)]) expect(shown).not.toContain(secret);
    await expect(openPostgresStores(uri, { keptLogs: true })).rejects.toThrow(`Cannot open history: ${away}`);
    expect(database.connections).toBe(0);
    await server.start();
    await writer.apply(batchOfOne(2));
    expect(await firstNumbers(reads)).toEqual([2, 1]);
  }
});

test("a batch whose connection breaks in the middle is stored as a whole when it is repeated", async () => {
  await using proxy = await openChaosProxy(server.port);
  await using history = await openPostgresHistory(server);
  const database = await PostgresDatabase.at(history.uri.replace(`:${server.port}/`, `:${proxy.port}/`));
  const writer = await PostgresCallHistoryWriter.open(database);
  const changes = Array.from({ length: 200 }, (_, number) => historyChange(number));
  const position = { created: "stream", sequence: 200, at: 1, base: 0 };
  let failures = 0;
  for (let bytes = 2_000; bytes < 60_000; bytes += 9_000) {
    proxy.reset();
    proxy.up({ cutAfter: bytes });
    await writer.apply({ changes, rollups: [], position }).catch(() => (failures += 1));
    // All of it, or nothing.
    const stored = (await history.writer.position()) === undefined ? 0 : 200;
    expect(await history.writer.size()).toMatchObject({ calls: stored });
  }
  expect(failures).toBeGreaterThan(1);
  proxy.heal();
  proxy.reset();
  await eventually(() => writer.apply({ changes, rollups: [], position }).then(() => true), { what: "the batch" });
  expect(await history.writer.size()).toMatchObject({ calls: 200 });
  await database.close();
});

test("a server that hangs, or is cut off without a word, costs its connections and no more", async () => {
  await using proxy = await openChaosProxy(server.port);
  await using history = await openPostgresHistory(server);
  const uri = history.uri.replace(`:${server.port}/`, `:${proxy.port}/`);
  const database = await PostgresDatabase.at(uri, { read: 300, write: 500 });
  const writer = await PostgresCallHistoryWriter.open(database);
  const reads = new PostgresCallHistory(database);
  await writer.apply(batchOfOne(1));
  expect(await firstNumbers(reads)).toEqual([1]);
  proxy.up({ blackHole: true });
  proxy.down({ blackHole: true });
  await expect(firstNumbers(reads)).rejects.toThrow("Cannot read history: it took longer than 300 ms");
  await expect(writer.apply(batchOfOne(2))).rejects.toThrow("Cannot write history: it took longer than 500 ms");
  // No connection is left, and none can be made.
  await expect(firstNumbers(reads)).rejects.toThrow(`PostgreSQL at "127.0.0.1:${proxy.port}" cannot be reached: `);
  proxy.heal();
  proxy.reset();
  await eventually(() => writer.apply(batchOfOne(2)).then(() => true), { what: "a write" });
  await eventually(async () => (await firstNumbers(reads)).length === 2, { what: "a read" });
  await database.close();
});

test("close() ends all connections", async () => {
  const uri = await server.newDatabase();
  const { reads, writer, logs, close } = await openPostgresStores(uri, { keptLogs: true, limits: patientReads });
  const numbers = Array.from({ length: 10 }, (_, index) => index);
  await Promise.all(numbers.map((number) => writer.apply(batchOfOne(number))));
  await Promise.all(numbers.map(() => reads.gaps()));
  await logs?.reads.lineReplicas({ namespace: "a", name: "b" });
  const count =
    "SELECT count(*)::int AS n FROM pg_stat_activity WHERE application_name = 'weir-history' AND datname = current_database()";
  expect((await server.query(uri, count))[0]?.["n"]).toBeGreaterThan(1);
  await close();
  await eventually(async () => (await server.query(uri, count))[0]?.["n"] === 0, { what: "no connection" });
  await expect(reads.gaps()).rejects.toMatchObject({ code: "history_unavailable" });
});
