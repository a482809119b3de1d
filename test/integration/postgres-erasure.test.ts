import { afterAll, beforeAll, expect, test } from "vitest";

import { PostgresKeptLogsWriter } from "../../runtime/adapters/postgres/logs/postgres-kept-logs-writer.ts";
import { PostgresKeptLogs } from "../../runtime/adapters/postgres/logs/postgres-kept-logs.ts";
import { readKeptLines } from "../../runtime/core/history/logs/read-kept-lines.ts";
import { rollupPoint, unboundedHistory } from "../contract/call-history-rollups.contract.ts";
import { historyChange, historyId, historyStart, listPages, numbersOf, openEntry } from "../support/history-calls.ts";
import { openPostgresHistory } from "../support/postgres-history.ts";
import { openPostgresServer, type PostgresServer } from "../support/postgres-server.ts";
import { postgresCounts } from "../support/postgres-tables.ts";

const pay = { namespace: "shop", name: "pay" };
const ofPay = { namespace: "shop", function: "pay" };

let server: PostgresServer;
beforeAll(async () => {
  server = await openPostgresServer();
});
afterAll(() => server?.close());

test("the ended calls of a function are erased for good; open ones, and those of others, stay", async () => {
  await using history = await openPostgresHistory(server);
  const { reads, writer } = history;
  const changes = Array.from({ length: 2_300 }, (_, number) =>
    historyChange(number, { ...(number % 100 === 7 ? openEntry : {}), ...(number % 10 === 0 ? {} : ofPay) }),
  );
  await writer.apply({ changes, rollups: [rollupPoint(0, pay)] });
  expect(await writer.eraseCalls({ ...pay, name: "none" })).toEqual({ calls: 0, open: 0 });
  expect(await writer.eraseCalls(pay)).toEqual({ calls: 2_070 - 23, open: 23 });
  expect(await writer.eraseCalls(pay)).toEqual({ calls: 0, open: 23 });

  await writer.apply({ changes: changes.filter((_change, number) => number % 100 !== 7), rollups: [] });
  const { rows } = await listPages(reads, {}, 500);
  const left = Array.from({ length: 2_300 }, (_, number) => number).filter(
    (number) => number % 10 === 0 || number % 100 === 7,
  );
  expect(numbersOf(rows)).toEqual(left.toReversed());
  expect(await reads.get(historyId(1))).toBeUndefined();
  for (const [way, count] of Object.entries(await postgresCounts(history.query)))
    expect([way, count]).toEqual([way, 253]);
});

test("the lines of a function are erased, and what was followed does not come again", async () => {
  await using history = await openPostgresHistory(server);
  const writer = await PostgresKeptLogsWriter.open(history.database);
  const reads = new PostgresKeptLogs(history.database);
  const lineAt = (name: string, number: number) => ({
    namespace: "shop",
    name,
    instance: "a",
    timestamp: new Date(historyStart + number).toISOString(),
    text: "line\n",
    number: 0,
  });
  const lines = Array.from({ length: 2_500 }, (_, number) => lineAt("pay", number));
  await writer.append([...lines, lineAt("refund", 1)]);
  expect(await writer.eraseLines(pay)).toBe(2_500);
  expect(await writer.eraseLines(pay)).toBe(0);
  await writer.append(lines);
  expect(await Array.fromAsync(readKeptLines(reads, pay))).toEqual([]);
  expect(await writer.size()).toMatchObject({ lines: 1 });
});

test("rollups make room for calls, the oldest of the finest step first, and count what they take", async () => {
  await using history = await openPostgresHistory(server);
  const { reads, writer, query } = history;
  const minutes = 60;
  const points = Array.from({ length: 6 * minutes }, (_, index) => rollupPoint(10 * index));
  await writer.apply({ changes: Array.from({ length: 100 }, (_, index) => historyChange(index)), rollups: points });
  const before = await writer.size();
  const bounds = { ...unboundedHistory, bytes: before.bytes - 20_000 };
  const now = historyStart + 3_600_000 + 60_000;
  while (await writer.trim(bounds, now));
  const after = await writer.size();
  expect(after.bytes).toBeLessThanOrEqual(bounds.bytes);
  expect(after.bytes).toBeGreaterThan(bounds.bytes - 1_000);
  expect(after.calls).toBe(100);
  const [stored] = await query("SELECT count(*)::int AS n, sum(length(counts) + 130)::int AS bytes FROM rollup");
  const [counted] = await query("SELECT rollup_bytes::int AS bytes, rollups_since AS since FROM progress");
  expect(counted?.["bytes"]).toBe(stored?.["bytes"]);
  const [oldest] = await query("SELECT min(at) AS at FROM rollup WHERE step = 0");
  expect(Number(oldest?.["at"])).toBeGreaterThan(historyStart);
  // Whether they came before is not known any more.
  await writer.apply({ changes: [], rollups: points });
  expect(await query("SELECT count(*)::int AS n FROM rollup")).toEqual([{ n: stored?.["n"] }]);
  const whole = { functions: [{ namespace: "functions", name: "echo" }], since: historyStart, until: now };
  const [series] = await reads.rollups({ ...whole, step: "1m", until: historyStart + 3_600_000 });
  expect(series?.calls.every((calls) => calls === 12)).toBe(true);
});
