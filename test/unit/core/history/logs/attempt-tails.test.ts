import { beforeEach, expect, test } from "vitest";

import type { OutputName } from "../../../../../runtime/api/schemas/log-record.ts";
import { findAttemptTails } from "../../../../../runtime/core/history/logs/attempt-tails.ts";
import { formatLogMoment } from "../../../../../runtime/core/history/logs/log-moment.ts";
import type { MatchedRun } from "../../../../../runtime/core/history/logs/lone-windows.ts";
import type { HistoryCall } from "../../../../../runtime/core/history/history-row.ts";
import { asyncCallRow, syncCallRow } from "../../../../../runtime/core/history/call-row.ts";
import { sampleCall, sampleEntry } from "../../../../contract/samples.ts";
import { MemoryKeptLogs } from "../../../../support/memory/memory-kept-logs.ts";

const hello = { namespace: "functions", name: "hello" };
const id = "7f3c1d52-5c0e-4d7b-9a53-000000000001";
const entry = sampleEntry({}, sampleCall({ id, function: hello }));
const call: HistoryCall = { row: asyncCallRow(id, 1, entry), details: { entry } };
const window = { from: 1_000, to: 2_001 };

let kept: MemoryKeptLogs;
beforeEach(() => {
  kept = new MemoryKeptLogs();
});

async function wrote(at: number, text: string, stream?: OutputName, instance = "a"): Promise<void> {
  const timestamp = formatLogMoment({ at, nanos: 0 });
  const line = { ...hello, instance, timestamp, text: `${text}\n`, number: 0 };
  await kept.append([{ ...line, ...(stream === undefined ? {} : { stream }) }]);
}

const failed: MatchedRun = { number: 1, window, alone: window, replica: "a", hasFailed: true };

async function tailOf(run: MatchedRun = failed, of: HistoryCall = call) {
  return Object.fromEntries(await findAttemptTails(kept, of, [run]));
}

test("a failed run shows what its replica wrote to standard error meanwhile", async () => {
  await wrote(999, "before", "stderr");
  await wrote(1_100, "Error: no such order", "stderr");
  await wrote(1_101, "200 OK", "stdout");
  await wrote(1_102, "    at pay", "stderr");
  await wrote(1_500, "of another", "stderr", "b");
  await wrote(2_001, "after", "stderr");
  expect(await tailOf()).toEqual({ 1: { lines: ["Error: no such order", "    at pay"], match: "window" } });
});

test("where the output is not known, all lines count", async () => {
  await wrote(1_100, "one");
  await wrote(1_200, "two");
  expect(await tailOf()).toEqual({ 1: { lines: ["one", "two"], match: "window" } });
});

test("of a run that was not alone, lines with the id of the call count", async () => {
  await wrote(1_100, "whose", "stderr");
  await wrote(1_200, `call ${id} failed`, "stderr");
  await wrote(1_300, `call ${id} began`, "stdout");
  const run = { ...failed, alone: undefined };
  expect(await tailOf(run)).toEqual({ 1: { lines: [`call ${id} failed`], match: "text" } });
  expect(await tailOf({ ...run, window: { from: 1_300, to: 1_400 } })).toEqual({});
});

test("lines that are tagged count by their tag, whatever ran beside", async () => {
  const tagged = (of: string, text: string): string => `\u001e${of}\u001f${text}`;
  const other = id.replace(/1$/, "2");
  await wrote(1_100, tagged(id, "Error: mine"), "stderr");
  await wrote(1_200, tagged(other, `Error: not of ${id}`), "stderr");
  await wrote(1_300, "watchdog: process ended", "stderr");
  await wrote(2_300, tagged(id, "a moment later"), "stderr");
  await wrote(2_700, tagged(id, "of the next run"), "stderr");
  const run = { ...failed, alone: undefined };
  expect(await tailOf(run)).toEqual({ 1: { lines: ["Error: mine", "a moment later"], match: "tagged" } });
  const next = { ...failed, number: 2, hasFailed: false, window: { from: 2_200, to: 3_000 } };
  const tails = await findAttemptTails(kept, call, [run, next]);
  expect(tails.get(1)?.lines).toEqual(["Error: mine"]);
  expect(await tailOf()).toEqual({ 1: { lines: ["Error: mine", "watchdog: process ended"], match: "window" } });
});

test("where the replica is not known, two that wrote say nothing", async () => {
  const run = { ...failed, replica: undefined };
  await wrote(1_100, "one", "stderr");
  expect(await tailOf(run)).toEqual({ 1: { lines: ["one"], match: "window" } });
  await wrote(1_200, "other", "stderr", "b");
  expect(await tailOf(run)).toEqual({});
});

test("runs that did not fail, and synchronous calls, show nothing", async () => {
  await wrote(1_100, "warning", "stderr");
  expect(await tailOf({ ...failed, hasFailed: false })).toEqual({});
  const sync = { ...hello, id, method: "GET", status: 500, startedAt: 1_000, duration: 1_000, replica: "a" };
  expect(await tailOf(failed, { row: syncCallRow(sync), details: { sync } })).toEqual({});
});

test("the last whole lines that fit into 2 KiB are shown; of a longer one its begin", async () => {
  for (let number = 0; number < 50; number += 1) await wrote(1_100 + number, `${number} ${"x".repeat(97)}`, "stderr");
  const { lines = [] } = (await tailOf())[1] ?? {};
  expect(lines.at(-1)).toMatch(/^49 x/);
  expect(lines.every((line) => line.length >= 99)).toBe(true);
  const bytes = lines.reduce((sum, line) => sum + line.length + 1, 0);
  expect([bytes <= 2_048, bytes > 2_048 - 102]).toEqual([true, true]);

  await wrote(1_900, "€".repeat(2_000), "stderr");
  const [long = "", ...others] = (await tailOf())[1]?.lines ?? [];
  expect(others).toEqual([]);
  expect(long).toMatch(/^€+…$/);
  expect(Buffer.byteLength(long) + 1).toBeLessThanOrEqual(2_048);
  expect(Buffer.byteLength(long)).toBeGreaterThan(2_040);
});

test.each([
  ["a line of 2 047 bytes is shown whole", ["x".repeat(2_047)], ["x".repeat(2_047)]],
  ["one of 2 048 is not", ["x".repeat(2_048)], [`${"x".repeat(2_044)}…`]],
  ["two of 1 023 are shown", ["x".repeat(1_023), "y".repeat(1_023)], ["x".repeat(1_023), "y".repeat(1_023)]],
  ["of two where one is longer, the last", ["x".repeat(1_024), "y".repeat(1_023)], ["y".repeat(1_023)]],
])("with the newlines there are 2 048 bytes: %s", async (_, written, lines) => {
  for (const [index, text] of written.entries()) await wrote(1_100 + index, text, "stderr");
  expect((await tailOf())[1]?.lines).toEqual(lines);
});

test("of a run that wrote very much its last lines are found", async () => {
  const place = { ...hello, instance: "a", stream: "stderr" } as const;
  const timestamp = formatLogMoment({ at: 1_100, nanos: 0 });
  const lines = Array.from({ length: 1_500 }, (_, number) => ({ ...place, timestamp, text: "again\n", number }));
  await kept.append(lines);
  await wrote(1_200, "Error: out of memory", "stderr");
  expect((await tailOf())[1]?.lines.at(-1)).toBe("Error: out of memory");
});

test("of a run that was not alone, at an unknown replica, lines with the id of the call count, of any replica", async () => {
  await wrote(1_100, `call ${id} began`, "stderr");
  await wrote(1_200, `call ${id} was sent on`, "stderr", "b");
  expect(await tailOf({ ...failed, alone: undefined, replica: undefined })).toEqual({
    1: { lines: [`call ${id} began`, `call ${id} was sent on`], match: "text" },
  });
});

test("the last eight failed runs are shown", async () => {
  const runs = Array.from({ length: 12 }, (_, index) => {
    const own = { from: 10_000 * index, to: 10_000 * index + 1_000 };
    // The eleventh went well.
    return { ...failed, number: index + 1, window: own, alone: own, hasFailed: index !== 10 };
  });
  for (const run of runs) await wrote(run.window.from + 500, `Error of run ${run.number}`, "stderr");
  const tails = await findAttemptTails(kept, call, runs);
  expect([...tails.keys()]).toEqual([4, 5, 6, 7, 8, 9, 10, 12]);
  expect(tails.get(12)).toEqual({ lines: ["Error of run 12"], match: "window" });
});
