import { afterAll, beforeAll, expect, test } from "vitest";

import { PostgresDatabase } from "../../runtime/adapters/postgres/database/postgres-database.ts";
import { batchOfOne, firstNumbers } from "../support/history-calls.ts";
import { openPostgresHistory } from "../support/postgres-history.ts";
import { openPostgresServer, type PostgresServer } from "../support/postgres-server.ts";

let server: PostgresServer;
beforeAll(async () => {
  server = await openPostgresServer();
});
afterAll(() => server?.close());

test("writes of a slow server take their time; a process that stops in the middle of one keeps others waiting 10 s at most", async () => {
  await using history = await openPostgresHistory(server);
  const { writer, query, uri, reads } = history;
  await query(`CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_sleep(5); RETURN NULL; END';
    CREATE TRIGGER slow AFTER INSERT ON call FOR EACH STATEMENT EXECUTE FUNCTION slow()`);
  const began = performance.now();
  const writing = writer.apply(batchOfOne(1));
  expect(await firstNumbers(reads)).toEqual([]);
  await writing;
  expect(performance.now() - began).toBeGreaterThan(4_990);
  expect(await firstNumbers(reads)).toEqual([1]);
  await query("DROP TRIGGER slow ON call");

  // As a process that is stopped in the middle of a batch: it has the lock, and says nothing more.
  const database = await PostgresDatabase.at(uri);
  const resumed = Promise.withResolvers<void>();
  const begun = Promise.withResolvers<void>();
  const stopped = database.write({ what: "history", lock: "calls" }, async (transaction) => {
    await transaction.all("INSERT INTO gap VALUES (1, 2)");
    begun.resolve();
    await resumed.promise;
  });
  await begun.promise;
  await writer.apply(batchOfOne(2));
  expect(await firstNumbers(reads)).toEqual([2, 1]);
  resumed.resolve();
  await expect(stopped).rejects.toThrow("Cannot write history: ");
  expect(await reads.gaps()).toEqual([]);
  await database.close();
});
