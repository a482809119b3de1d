import { existsSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

import { expect, test } from "vitest";

import { ReaderProcess } from "../../runtime/adapters/sqlite/calls/reader-process.ts";
import { SqlCallHistory } from "../../runtime/adapters/sql/calls/sql-call-history.ts";
import { SqliteCallHistoryWriter } from "../../runtime/adapters/sqlite/calls/sqlite-call-history-writer.ts";
import { SqliteCallHistory } from "../../runtime/adapters/sqlite/calls/sqlite-call-history.ts";
import { SqliteReader } from "../../runtime/adapters/sqlite/database/sqlite-reader.ts";
import type { CallHistory } from "../../runtime/core/ports/call-history.ts";
import { rollupPoint } from "../contract/call-history-rollups.contract.ts";
import { eventually } from "../support/eventually.ts";
import { firstNumbers, historyChange, historyId, historyStart, historySyncCall } from "../support/history-calls.ts";
import { tempDirectory } from "../support/temp-directory.ts";

interface OpenedReader extends AsyncDisposable {
  readonly file: string;
  readonly writer: SqliteCallHistoryWriter;
  readonly reads: SqliteCallHistory;
}

async function openReader(readLimit: number, idleTimeout = 60_000): Promise<OpenedReader> {
  const directory = await tempDirectory("reader");
  const file = join(directory.path, "calls.db");
  const writer = await SqliteCallHistoryWriter.open({ file });
  await writer.apply({ changes: [historyChange(1), historyChange(2)], rollups: [] });
  const reads = new SqliteCallHistory({ file, readLimit, idleTimeout });
  const close = async () => {
    await reads.close();
    await writer.close();
    await directory.remove();
  };
  return { file, writer, reads, [Symbol.asyncDispose]: close };
}

/** Makes reading rollups a statement that never ends. */
function makeEndless(file: string): void {
  const database = new DatabaseSync(file);
  database.exec(`ALTER TABLE rollup RENAME TO all_rollups;
    CREATE VIEW rollup AS WITH RECURSIVE n (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n)
    SELECT x % 3 AS step, x % 5 AS fn, x * 7 AS at, x AS source, x AS calls, '{}' AS counts FROM n WHERE x < 0`);
  database.close();
}

const rollupQuery = {
  functions: [{ namespace: "functions", name: "echo" }],
  step: "1h",
  since: historyStart,
  until: historyStart + 3_600_000,
} as const;
const readRollups = (reads: CallHistory) => reads.rollups(rollupQuery);

function isAlive(pid: number | undefined): boolean {
  return pid !== undefined && existsSync(`/proc/${pid}`);
}

test("reads of the child, and those in this process, are the same", async () => {
  await using opened = await openReader(60_000);
  const { file, writer, reads } = opened;
  const changes = [historyChange(3, { replayOf: historyId(1), source: "replay" }), historyChange(4, { queue: "slow" })];
  await writer.apply({
    changes: [...changes, { kind: "sync", call: historySyncCall(5) }],
    rollups: [rollupPoint(0), rollupPoint(20)],
    gap: { from: historyStart, to: historyStart + 1_000 },
  });
  const database = new DatabaseSync(file, { readOnly: true });
  const all = (history: CallHistory) =>
    Promise.all([
      history.list({ filter: { queue: "default" }, limit: 2 }),
      history.get(historyId(3)),
      history.get(historyId(9)),
      history.replaysOf(historyId(1)),
      history.functions(),
      history.gaps(),
      readRollups(history),
    ]);
  const found = await all(reads);
  expect(found).toEqual(await all(new SqlCallHistory(new SqliteReader(database))));
  expect(found.slice(3, 6)).toEqual([
    [historyId(3)],
    [{ namespace: "functions", name: "echo" }],
    [{ from: historyStart, to: historyStart + 1_000 }],
  ]);
  database.close();
});

test("the child runs while it is read; what the history process itself asks for needs none", async () => {
  await using opened = await openReader(60_000, 200);
  const { reads } = opened;
  await eventually(() => reads.readerPid === undefined, { what: "its code to be compiled" });
  expect([await reads.gaps(), await reads.functions()]).toEqual([[], [{ namespace: "functions", name: "echo" }]]);
  expect(reads.readerPid).toBeUndefined();
  expect(await firstNumbers(reads)).toEqual([2, 1]);
  const first = reads.readerPid;
  expect(isAlive(first)).toBe(true);
  await eventually(() => reads.readerPid === undefined && !isAlive(first), { what: "the end of the child" });
  expect(await firstNumbers(reads)).toEqual([2, 1]);
  expect(isAlive(reads.readerPid)).toBe(true);
});

test("a read over the limit is killed with its process, and those behind it are answered by the next one", async () => {
  await using opened = await openReader(1_000);
  const { file, writer, reads } = opened;
  // With compiled code from now on.
  expect(await firstNumbers(reads)).toEqual([2, 1]);
  makeEndless(file);
  const first = reads.readerPid;
  const began = performance.now();
  const endless = readRollups(reads);
  const behind = firstNumbers(reads);
  await expect(endless).rejects.toMatchObject({
    code: "history_unavailable",
    message: "Cannot read history: it took longer than 1000 ms",
  });
  expect(performance.now() - began).toBeGreaterThan(900);
  expect(reads.readerPid).not.toBe(first);
  expect(await behind).toEqual([2, 1]);
  await eventually(() => !isAlive(first), { what: "the end of the first reader" });

  // The statement held no lock against the writer, and its log is given up.
  await writer.apply({ changes: [historyChange(3)], rollups: [] });
  expect(await firstNumbers(reads)).toEqual([3, 2, 1]);
});

test("reads are answered in their order, and while the writer writes", async () => {
  await using opened = await openReader(60_000);
  const { writer, reads } = opened;
  const order: number[] = [];
  const asked = Array.from({ length: 40 }, async (_, index) => {
    if (index % 4 === 0) await writer.apply({ changes: [historyChange(100 + index)], rollups: [] });
    const call = await reads.get(historyId(1 + (index % 3)));
    order.push(index);
    return call?.row.id;
  });
  const found = await Promise.all(asked);
  expect(found.filter((id) => id !== undefined)).toHaveLength(27);
  const unwaited = order.filter((index) => index % 4 !== 0);
  expect(unwaited).toEqual(unwaited.toSorted((one, other) => one - other));
});

test("a read that waited too long is rejected, and the reader goes on", async () => {
  await using opened = await openReader(1_000);
  const { file, reads } = opened;
  expect(await firstNumbers(reads)).toEqual([2, 1]);
  makeEndless(file);
  const all = await Promise.allSettled(Array.from({ length: 5 }, () => readRollups(reads)));
  const reasons = all.map((one) => (one.status === "rejected" ? String(one.reason.message) : "resolved"));
  expect(reasons[0]).toBe("Cannot read history: it took longer than 1000 ms");
  expect(reasons.at(-1)).toBe("Cannot read history: too many reads wait");
  expect(await firstNumbers(reads)).toEqual([2, 1]);
});

test("a reader that is killed is replaced, and the read it had is rejected", async () => {
  await using opened = await openReader(60_000);
  const { file, reads } = opened;
  expect(await firstNumbers(reads)).toEqual([2, 1]);
  makeEndless(file);
  const first = reads.readerPid ?? expect.fail("there is no reader");
  const endless = readRollups(reads);
  process.kill(first, "SIGKILL");
  await expect(endless).rejects.toThrow("Cannot read history: its reader ended");
  expect(await firstNumbers(reads)).toEqual([2, 1]);
  expect(reads.readerPid).not.toBe(first);
});

test("close() rejects what waits and leaves no process", async () => {
  const opened = await openReader(60_000);
  const { file, reads } = opened;
  expect(await firstNumbers(reads)).toEqual([2, 1]);
  makeEndless(file);
  const pid = reads.readerPid;
  expect(isAlive(pid)).toBe(true);
  const waiting = [readRollups(reads), readRollups(reads)];
  const ended = Promise.allSettled(waiting);
  await opened[Symbol.asyncDispose]();
  expect((await ended).map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  expect(isAlive(pid)).toBe(false);
  await expect(firstNumbers(reads)).rejects.toThrow("Cannot read history: it is closed");
  await expect(reads.functions()).rejects.toThrow("Cannot read history: it is closed");
});

test("a file that cannot be read rejects each read, and is tried again by the next one", async () => {
  await using directory = await tempDirectory("reader");
  const file = join(directory.path, "calls.db");
  const reads = new SqliteCallHistory({ file });
  for (const read of [() => firstNumbers(reads), () => reads.functions()])
    await expect(read()).rejects.toThrow("Cannot read history: unable to open database file");
  const writer = await SqliteCallHistoryWriter.open({ file });
  expect([await firstNumbers(reads), await reads.functions()]).toEqual([[], []]);
  await reads.close();
  await writer.close();
});

test("a child that never can be asked is ended, and what waits for it rejected", async () => {
  await using directory = await tempDirectory("reader");
  const program = join(directory.path, "silent.mjs");
  await writeFile(program, "process.on('message', () => {});");
  const reader = new ReaderProcess({
    file: join(directory.path, "calls.db"),
    limit: 60_000,
    patience: 60_000,
    startLimit: 300,
    program,
  });
  const first = reader.pid;
  const ask = () => reader.ask({ read: "get", argument: historyId(1) });
  const asked = await Promise.allSettled([ask(), ask()]);
  const reasons = asked.map((one) => (one.status === "rejected" ? String(one.reason.message) : "resolved"));
  expect(new Set(reasons)).toEqual(new Set(["Cannot read history: its reader did not start within 300 ms"]));
  await eventually(() => !isAlive(first), { what: "the end of the first child" });
  // The next read tries again, with the same bound.
  const again = ask();
  expect(reader.pid).not.toBe(first);
  await expect(again).rejects.toThrow("did not start within 300 ms");
  await reader.close();
});
