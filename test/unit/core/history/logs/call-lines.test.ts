import { beforeEach, expect, test } from "vitest";

import { findCallLines } from "../../../../../runtime/core/history/logs/call-lines.ts";
import { matchRuns } from "../../../../../runtime/core/history/logs/lone-windows.ts";
import { formatLogMoment } from "../../../../../runtime/core/history/logs/log-moment.ts";
import type { CallEntry } from "../../../../../runtime/core/calls/call-entry.ts";
import type { FollowedLine } from "../../../../../runtime/core/ports/kept-logs.ts";
import type { RollupPoint } from "../../../../../runtime/core/history/rollups/rollup.ts";
import { sampleCall, sampleEntry } from "../../../../contract/samples.ts";
import { MemoryCallHistory } from "../../../../support/memory/memory-call-history.ts";
import { MemoryKeptLogs } from "../../../../support/memory/memory-kept-logs.ts";

const hello = { namespace: "functions", name: "hello" };
const start = Date.parse("2026-01-31T12:00:00Z");
const numbered = (number: number): string => `7f3c1d52-5c0e-4d7b-9a53-${String(number).padStart(12, "0")}`;

let kept: MemoryKeptLogs;
let history: MemoryCallHistory;

beforeEach(() => {
  kept = new MemoryKeptLogs();
  history = new MemoryCallHistory();
});

type Run = readonly [from: number, to: number, replica?: string | undefined, status?: number];

/** Writes a call that ran in these times, milliseconds after the start. */
async function ran(number: number, ...runs: readonly Run[]): Promise<string> {
  const id = numbered(number);
  const last = runs.at(-1);
  const entry: CallEntry = {
    ...sampleEntry({}, sampleCall({ id, function: hello })),
    accepted: (BigInt(start) * 1_000_000n).toString(),
    state: "done",
    ended: start + (last?.[1] ?? 0),
    status: 200,
    run: runs.length,
    retries: runs.length - 1,
    attempts: runs.map(([from, to, replica, status = 200], index) => ({
      number: index + 1,
      startedAt: start + from,
      endedAt: start + to,
      status,
      duration: to - from,
      ...(replica === undefined ? {} : { replica }),
    })),
  };
  await history.apply({ changes: [{ kind: "entry", id, revision: number, entry }], rollups: [] });
  return id;
}

/** Keeps lines at these times; `instance` is their replica. */
async function wrote(instance: string, ...lines: readonly (readonly [at: number, text: string])[]): Promise<void> {
  await kept.append(
    lines.map(([at, text]) => ({
      ...hello,
      instance,
      timestamp: formatLogMoment({ at: start + at, nanos: 0 }),
      text: `${text}\n`,
      number: 0,
    })),
  );
}

async function found(id: string, limit = 100): Promise<string[]> {
  const call = await history.get(id);
  if (call === undefined) throw new Error("there is no such call");
  const lines = await findCallLines(kept, call, await matchRuns(history, call, start + 3_600_000), limit);
  return lines.map(({ line, match }) => `${match} ${line.text.trimEnd()}`);
}

async function counted(over: Partial<RollupPoint>): Promise<void> {
  await history.apply({ changes: [], rollups: [{ ...hello, source: "gateway", at: start, ...over }] });
}

test("the lines of a run belong to it, those before and after do not", async () => {
  const id = await ran(1, [1_000, 2_000]);
  await wrote("a", [999, "before"], [1_000, "first"], [2_000, "last"], [2_501, "after"]);
  expect(await found(id)).toEqual(["window first", "window last"]);
});

test("what is read within half a second after the end belongs to the run, if its replica ran nothing else then", async () => {
  const id = await ran(1, [1_000, 2_000, "a"]);
  await wrote("a", [2_400, "late"]);
  expect(await found(id)).toEqual(["window late"]);
  await ran(2, [2_300, 3_000, "a"]);
  expect(await found(id)).toEqual([]);
});

test("lines with its id belong to it whenever they were written, of any replica", async () => {
  const id = await ran(1, [1_000, 2_000]);
  await wrote("a", [1_500, "during"], [5_000, `late ${id}`]);
  await wrote("b", [3_000, `call=${id} other`], [3_001, `call=${numbered(2)}`]);
  expect(await found(id)).toEqual(["window during", `text call=${id} other`, `text late ${id}`]);
  expect(await found(id, 1)).toHaveLength(1);
});

test("while another call ran, only lines with its id belong to it", async () => {
  const id = await ran(1, [1_000, 2_000]);
  await ran(2, [1_900, 3_000]);
  await wrote("a", [1_500, "whose"], [1_600, `of ${id}`]);
  expect(await found(id)).toEqual([`text of ${id}`]);
});

test("a call that waited in the queue meanwhile is no other request", async () => {
  const id = await ran(1, [1_000, 2_000]);
  const next = await ran(2, [2_100, 3_000]);
  await wrote("a", [1_500, "first"], [2_500, "second"]);
  expect([await found(id), await found(next)]).toEqual([["window first"], ["window second"]]);
});

test("each run has its window; the time between them has none", async () => {
  const id = await ran(1, [1_000, 2_000], [5_000, 6_000]);
  await wrote("a", [1_500, "one"], [3_000, "between"], [5_500, "two"]);
  expect(await found(id)).toEqual(["window one", "window two"]);
});

test("lines of a window that several replicas wrote belong to no one", async () => {
  const id = await ran(1, [1_000, 2_000]);
  await wrote("a", [1_500, "one"]);
  await wrote("b", [1_600, "other"]);
  expect(await found(id)).toEqual([]);
});

test("tagged lines belong to the call that they name, and to no other", async () => {
  const id = await ran(1, [1_000, 2_000]);
  const other = await ran(2, [1_500, 2_500]);
  await wrote("a", [1_600, `\u001e${id}\u001fmine`], [1_700, `\u001e${other}\u001fabout ${id}`], [1_800, "whose"]);
  expect(await found(id)).toEqual(["tagged mine"]);
  expect(await found(other)).toEqual([`tagged about ${id}`]);
});

test("of a run at a known replica its lines count, whatever others wrote or ran meanwhile", async () => {
  const id = await ran(1, [1_000, 2_000, "a"]);
  await ran(2, [1_500, 2_500, "b"]);
  await wrote("a", [1_500, "mine"]);
  await wrote("b", [1_600, "other"]);
  expect(await found(id)).toEqual(["window mine"]);
  await ran(3, [1_900, 2_100, "a"]);
  expect(await found(id)).toEqual([]);
});

test.each([
  ["at an address, as earlier releases noted it,", "10.0.0.1:8080"],
  ["at an unknown place", undefined],
])("another run %s may have been at the same replica", async (_, place) => {
  const id = await ran(1, [1_000, 2_000, "a"]);
  await wrote("a", [1_500, "whose"]);
  expect(await found(id)).toEqual(["window whose"]);
  await ran(2, [1_500, 2_500, place]);
  expect(await found(id)).toEqual([]);
});

test("a run at an address is matched as one at an unknown place", async () => {
  const id = await ran(1, [1_000, 2_000, "10.0.0.1:8080"]);
  await wrote("a", [1_500, "one"]);
  expect(await found(id)).toEqual(["window one"]);
  await wrote("b", [1_600, "other"]);
  expect(await found(id)).toEqual([]);
});

test("a call between two of its runs is no other request", async () => {
  const id = await ran(1, [1_000, 2_000, "a"]);
  await ran(2, [500, 900, "a"], [2_100, 2_500, "a"]);
  await wrote("a", [1_500, "mine"]);
  expect(await found(id)).toEqual(["window mine"]);
});

test("of a call of which not all runs are kept, one may have been anywhere", async () => {
  const id = await ran(1, [1_000, 2_000, "a"]);
  await wrote("a", [1_500, "whose"]);
  const other = await history.get(await ran(2, [500, 900, "a"], [2_600, 3_000, "a"]));
  const { entry } = other?.details ?? {};
  if (entry === undefined) throw new Error("there is no record");
  const change = { kind: "entry", id: numbered(2), revision: 9, entry: { ...entry, run: 30 } } as const;
  await history.apply({ changes: [change], rollups: [] });
  expect(await found(id)).toEqual([]);
});

test("what a run that failed wrote last may be read a moment after its end, but not while another runs", async () => {
  const id = await ran(1, [1_000, 2_000, "a", 500]);
  await wrote("a", [1_500, "during"], [2_300, "Error: last"], [2_600, "later"]);
  expect(await found(id)).toEqual(["window during", "window Error: last"]);
  await ran(2, [2_200, 2_500, "a"]);
  expect(await found(id)).toEqual(["window during"]);
});

test("where more calls ended than have rows, a synchronous one may have written the line", async () => {
  const id = await ran(1, [1_000, 2_000]);
  await wrote("a", [1_500, "whose"]);
  await counted({ calls: [0, 1, 0, 0, 0] });
  expect(await found(id)).toEqual(["window whose"]);
  await counted({ source: "another", calls: [0, 1, 0, 0, 0] });
  expect(await found(id)).toEqual([]);
});

test("a call that never ran has no lines", async () => {
  const id = await ran(1);
  await wrote("a", [0, `of ${id}`]);
  expect(await found(id)).toEqual([]);
});

test("lines of the same millisecond stand in the order in which they were written", async () => {
  const id = await ran(1, [1_000, 2_000, "a"]);
  const line = (nanos: number, number: number, text: string): FollowedLine => {
    const timestamp = formatLogMoment({ at: start + 1_500, nanos });
    return { ...hello, instance: "a", timestamp, text: `${text}\n`, number };
  };
  await kept.append([
    line(100, 0, "one"),
    line(100, 1, `two of ${id}`),
    line(200, 0, "three"),
    line(300, 0, `four of ${id}`),
    line(300, 1, "five"),
  ]);
  const lines = ["window one", `text two of ${id}`, "window three", `text four of ${id}`, "window five"];
  expect(await found(id)).toEqual(lines);
});
