import { afterAll, beforeAll, expect, test } from "vitest";

import type { HistoryBounds } from "../../runtime/core/ports/call-history.ts";
import { unboundedHistory } from "../contract/call-history-rollups.contract.ts";
import {
  historyChange,
  historyId,
  historyStart,
  historySyncCall,
  listPages,
  numbersOf,
  openEntry,
} from "../support/history-calls.ts";
import { openPostgresHistory, type PostgresHistory } from "../support/postgres-history.ts";
import { openPostgresServer, type PostgresServer } from "../support/postgres-server.ts";
import { postgresCounts } from "../support/postgres-tables.ts";

const day = 86_400_000;
const firstDay = Math.floor(historyStart / day);

let server: PostgresServer;
beforeAll(async () => {
  server = await openPostgresServer();
});
afterAll(() => server?.close());

/** Calls of so many days, 500 a day: number 500 is the first one of the second day. */
async function filled(days: number, openNumbers: readonly number[] = []): Promise<PostgresHistory> {
  const history = await openPostgresHistory(server);
  for (let from = 0; from < days * 500; from += 500)
    await history.writer.apply({
      changes: Array.from({ length: 500 }, (_, index) => {
        const number = from + index;
        const accepted = historyStart + day * Math.floor(number / 500) + (number % 500);
        return historyChange(number, {
          accepted: `${accepted}000000`,
          function: `f${Math.floor(number / 500)}`,
          ...(openNumbers.includes(number) ? openEntry : {}),
        });
      }),
      rollups: [],
    });
  return history;
}

async function partitions({ query }: PostgresHistory): Promise<readonly number[]> {
  const found = await query(
    `SELECT c.relname AS name FROM pg_inherits AS i JOIN pg_class AS c ON c.oid = i.inhrelid
     WHERE i.inhparent = 'call'::regclass`,
  );
  return found
    .map(({ name }) => Number(String(name).slice("call_day_".length)) - firstDay)
    .toSorted((one, other) => one - other);
}

async function expectEqualCounts({ query }: PostgresHistory, calls: number): Promise<void> {
  for (const [text, count] of Object.entries(await postgresCounts(query))) expect([text, count]).toEqual([text, calls]);
}

async function trimAll({ writer }: PostgresHistory, bounds: Partial<HistoryBounds>, now: number): Promise<number> {
  let trims = 1;
  while (await writer.trim({ ...unboundedHistory, ...bounds }, now)) trims += 1;
  return trims;
}

test("calls are in a partition for each day, and days beyond the age go with theirs", async () => {
  await using history = await filled(5);
  expect(await partitions(history)).toEqual([0, 1, 2, 3, 4]);
  const { rows } = await listPages(history.reads, {}, 400);
  expect(numbersOf(rows)).toEqual(Array.from({ length: 2_500 }, (_, index) => 2_499 - index));

  // Two whole days, and a part of the third.
  const now = historyStart + 7 * day + 100;
  const trims = await trimAll(history, { age: 5 * day }, now);
  expect(trims).toBe(3);
  expect(await partitions(history)).toEqual([2, 3, 4]);
  const left = await listPages(history.reads, {}, 400);
  expect(numbersOf(left.rows)).toEqual(Array.from({ length: 1_400 }, (_, index) => 2_499 - index));
  expect(left.pages[0]?.total).toEqual({ value: 1_400, exact: true });
  await expectEqualCounts(history, 1_400);
  expect((await history.reads.functions()).map(({ name }) => name)).toEqual(["f2", "f3", "f4"]);

  // What came before is not known there any more: it is stored, and removed by the next trim.
  await history.writer.apply({ changes: [historyChange(0, {}, 10_000)], rollups: [] });
  expect(await partitions(history)).toEqual([0, 2, 3, 4]);
  await trimAll(history, { age: 5 * day }, now);
  expect(await partitions(history)).toEqual([2, 3, 4]);
});

test("a day with an open call keeps it, and its partition until it has ended", async () => {
  await using history = await filled(3, [3, 700]);
  const now = historyStart + 20 * day;
  await trimAll(history, { age: day }, now);
  expect(numbersOf((await listPages(history.reads)).rows)).toEqual([700, 3]);
  expect(await partitions(history)).toEqual([0, 1]);
  await history.writer.apply({ changes: [historyChange(3, {}, 10_000)], rollups: [] });
  // Those that were open are passed over for a minute.
  await trimAll(history, { age: day }, now + 120_000);
  expect(numbersOf((await listPages(history.reads)).rows)).toEqual([700]);
  expect(await partitions(history)).toEqual([1]);
  await expectEqualCounts(history, 1);
});

test("a day that lost all its calls to the bounds of number or bytes goes, too, but not today", async () => {
  await using history = await filled(3);
  await trimAll(history, { calls: 400 }, historyStart + 2 * day);
  expect(await partitions(history)).toEqual([2]);
  await history.writer.removeNamespace("functions");
  await trimAll(history, {}, historyStart + 2 * day);
  expect(await partitions(history)).toEqual([2]);
  await trimAll(history, {}, historyStart + 3 * day);
  expect(await partitions(history)).toEqual([]);
  await expectEqualCounts(history, 0);
});

test("a call that turns out to be of another day is one call", async () => {
  await using history = await openPostgresHistory(server);
  const { reads, writer } = history;
  await writer.apply({
    changes: [{ kind: "sync", call: historySyncCall(1, { startedAt: historyStart + 2 * day }) }],
    rollups: [],
  });
  await writer.apply({ changes: [historyChange(1)], rollups: [] });
  const { rows, total } = await reads.list({ filter: {}, limit: 10 });
  expect(rows).toMatchObject([{ id: historyId(1), kind: "async", accepted: historyStart + 1_000 }]);
  expect(total).toEqual({ value: 1, exact: true });
  await expectEqualCounts(history, 1);
});

test("a day that is being read goes later; its calls go one by one meanwhile, and reads wait a moment only", async () => {
  await using history = await filled(2);
  const { database, reads, writer } = history;
  const bounds = { ...unboundedHistory, age: day };
  const now = historyStart + 3 * day;
  const read = Promise.withResolvers<void>();
  const begun = Promise.withResolvers<void>();
  const reading = database.read(async (transaction) => {
    await transaction.all("SELECT count(*) FROM call");
    begun.resolve();
    await read.promise;
    return Number((await transaction.all("SELECT count(*) AS n FROM call"))[0]?.["n"]);
  });
  await begun.promise;
  const trimming = writer.trim(bounds, now);
  const listed = await Promise.all(
    Array.from({ length: 5 }, async () => (await reads.list({ filter: {}, limit: 1 })).rows.length),
  );
  expect(listed).toEqual([1, 1, 1, 1, 1]);
  expect(await trimming).toBe(true);
  expect(await writer.size()).toMatchObject({ calls: 0 });
  read.resolve();
  // One state, whatever is removed meanwhile.
  expect(await reading).toBe(1_000);
  while (await writer.trim(bounds, now));
  expect(await partitions(history)).toEqual([]);
});

test("a partition is created while calls are read", async () => {
  await using history = await filled(1);
  const { database, writer } = history;
  await database.read(async (transaction) => {
    await transaction.all("SELECT count(*) FROM call");
    await writer.apply({ changes: [historyChange(900, { accepted: `${historyStart + day}000000` })], rollups: [] });
  });
  expect(await partitions(history)).toEqual([0, 1]);
});
