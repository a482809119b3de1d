import { afterAll, beforeAll, expect, test } from "vitest";

import { PostgresCallHistoryWriter } from "../../runtime/adapters/postgres/calls/postgres-call-history-writer.ts";
import { PostgresDatabase } from "../../runtime/adapters/postgres/database/postgres-database.ts";
import { seededRandom } from "../../scripts/random.ts";
import { batchOfOne, historyChange, historyId } from "../support/history-calls.ts";
import { manyBatches } from "../support/history-batches.ts";
import { openPostgresHistory } from "../support/postgres-history.ts";
import { openPostgresServer, type PostgresServer } from "../support/postgres-server.ts";
import { postgresCounts, postgresTables } from "../support/postgres-tables.ts";

let server: PostgresServer;
beforeAll(async () => {
  server = await openPostgresServer();
});
afterAll(() => server?.close());

test("FH4 two writers at once, each batch twice and out of order: the same tables as of one in order", async () => {
  const seed = Math.floor(Math.random() * 2 ** 31);
  const random = seededRandom(seed);
  const batches = manyBatches(seed, { days: 4 });
  await using alone = await openPostgresHistory(server);
  for (const batch of batches) await alone.writer.apply(batch);

  await using both = await openPostgresHistory(server);
  const database = await PostgresDatabase.at(both.uri);
  const writers = [both.writer, await PostgresCallHistoryWriter.open(database)];
  const twice = [...batches, ...batches].map((batch) => ({ batch, at: random() }));
  const mixed = twice.toSorted((one, other) => one.at - other.at);
  await Promise.all(
    writers.map(async (writer, own) => {
      for (const [index, { batch }] of mixed.entries()) if (index % 2 === own) await writer.apply(batch);
    }),
  );
  await database.close();

  const [expected, found] = [await postgresTables(alone.query), await postgresTables(both.query)];
  for (const [name, rows] of Object.entries(expected)) expect([name, rows.length]).not.toEqual([name, 0]);
  // A day that had a call for a moment has its partition.
  const withCalls = (tables: typeof found) => ({ ...tables, days: tables.days.filter(({ calls }) => calls !== "0") });
  expect(withCalls(found), `seed ${seed}`).toEqual(withCalls(expected));
  for (const history of [alone, both])
    expect(new Set(Object.values(await postgresCounts(history.query))).size, `seed ${seed}`).toBe(1);
});

test("a call that another process removes is gone for the one that writes, too", async () => {
  await using history = await openPostgresHistory(server);
  const database = await PostgresDatabase.at(history.uri);
  const reader = await PostgresCallHistoryWriter.open(database);
  const numbers = Array.from({ length: 40 }, (_, index) => index);
  // One at a time each, as processes do: of 80 at once the last would not get a connection in time on a full machine.
  const eachOf = async (act: (number: number) => Promise<unknown>): Promise<void> => {
    for (const number of numbers) await act(number);
  };
  await Promise.all([
    eachOf((number) => history.writer.apply(batchOfOne(number))),
    eachOf((number) => reader.remove(historyId(number))),
    reader.removeNamespace("functions"),
  ]);
  await history.writer.apply({ changes: numbers.map((number) => historyChange(number, {}, 1_000)), rollups: [] });
  await database.close();
  expect(await history.writer.size()).toMatchObject({ calls: 0 });
  expect(new Set(Object.values(await postgresCounts(history.query)))).toEqual(new Set([0]));
});
