import { existsSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

import { expect, test } from "vitest";

import { SqliteCallHistoryWriter } from "../../runtime/adapters/sqlite/calls/sqlite-call-history-writer.ts";
import { SqliteCallHistory } from "../../runtime/adapters/sqlite/calls/sqlite-call-history.ts";
import { eventually } from "../support/eventually.ts";
import { historyChange, historyId, numbersOf } from "../support/history-calls.ts";
import { tempDirectory } from "../support/temp-directory.ts";

interface OpenedReader extends AsyncDisposable {
  readonly file: string;
  readonly writer: SqliteCallHistoryWriter;
  readonly reads: SqliteCallHistory;
}

async function openReader(readLimit: number): Promise<OpenedReader> {
  const directory = await tempDirectory("reader");
  const file = join(directory.path, "calls.db");
  const writer = await SqliteCallHistoryWriter.open({ file });
  await writer.apply({ changes: [historyChange(1), historyChange(2)], rollups: [] });
  const reads = new SqliteCallHistory({ file, readLimit });
  const close = async () => {
    await reads.close();
    await writer.close();
    await directory.remove();
  };
  return { file, writer, reads, [Symbol.asyncDispose]: close };
}

/** Makes reading gaps a statement that never ends. */
function makeEndless(file: string): void {
  const database = new DatabaseSync(file);
  database.exec(`ALTER TABLE gap RENAME TO all_gaps;
    CREATE VIEW gap AS WITH RECURSIVE n (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n)
    SELECT x AS since, x AS until FROM n WHERE x < 0`);
  database.close();
}

function isAlive(pid: number | undefined): boolean {
  return pid !== undefined && existsSync(`/proc/${pid}`);
}

const listed = async (reads: SqliteCallHistory) => numbersOf((await reads.list({ filter: {}, limit: 10 })).rows);

test("a read over the limit is killed with its process, and those behind it are answered by the next one", async () => {
  await using opened = await openReader(1_000);
  const { file, writer, reads } = opened;
  // With compiled code from now on.
  expect(await listed(reads)).toEqual([2, 1]);
  makeEndless(file);
  const first = reads.readerPid;
  const began = performance.now();
  const endless = reads.gaps();
  const behind = listed(reads);
  await expect(endless).rejects.toMatchObject({
    code: "history_unavailable",
    message: "Cannot read history: it took longer than 1000 ms",
  });
  expect(performance.now() - began).toBeGreaterThanOrEqual(999);
  expect(reads.readerPid).not.toBe(first);
  expect(await behind).toEqual([2, 1]);
  await eventually(() => !isAlive(first), { what: "the end of the first reader" });

  // The statement held no lock against the writer, and its log is given up.
  await writer.apply({ changes: [historyChange(3)], rollups: [] });
  expect(await listed(reads)).toEqual([3, 2, 1]);
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
  expect(await listed(reads)).toEqual([2, 1]);
  makeEndless(file);
  const all = await Promise.allSettled(Array.from({ length: 5 }, () => reads.gaps()));
  const reasons = all.map((one) => (one.status === "rejected" ? String(one.reason.message) : "resolved"));
  expect(reasons[0]).toBe("Cannot read history: it took longer than 1000 ms");
  expect(reasons.at(-1)).toBe("Cannot read history: too many reads wait");
  expect(await listed(reads)).toEqual([2, 1]);
});

test("a reader that is killed is replaced, and the read it had is rejected", async () => {
  await using opened = await openReader(60_000);
  const { file, reads } = opened;
  expect(await listed(reads)).toEqual([2, 1]);
  makeEndless(file);
  const first = reads.readerPid ?? expect.fail("there is no reader");
  const endless = reads.gaps();
  process.kill(first, "SIGKILL");
  await expect(endless).rejects.toThrow("Cannot read history: its reader ended");
  expect(await listed(reads)).toEqual([2, 1]);
  expect(reads.readerPid).not.toBe(first);
});

test("close() rejects what waits and leaves no process", async () => {
  const opened = await openReader(60_000);
  const { file, reads } = opened;
  expect(await listed(reads)).toEqual([2, 1]);
  makeEndless(file);
  const pid = reads.readerPid;
  expect(isAlive(pid)).toBe(true);
  const waiting = [reads.gaps(), reads.gaps()];
  const ended = Promise.allSettled(waiting);
  await opened[Symbol.asyncDispose]();
  expect((await ended).map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  expect(isAlive(pid)).toBe(false);
  await expect(reads.functions()).rejects.toThrow("Cannot read history: it is closed");
});

test("a file that cannot be read rejects each read, and is tried again by the next one", async () => {
  await using directory = await tempDirectory("reader");
  const file = join(directory.path, "calls.db");
  const reads = new SqliteCallHistory({ file });
  await expect(reads.functions()).rejects.toThrow("Cannot read history: unable to open database file");
  const writer = await SqliteCallHistoryWriter.open({ file });
  expect(await reads.functions()).toEqual([]);
  await reads.close();
  await writer.close();
});
