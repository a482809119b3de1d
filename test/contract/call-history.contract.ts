import { randomUUID } from "node:crypto";

import fc from "fast-check";
import { describe, expect, test } from "vitest";

import type { CallEntry } from "../../runtime/core/calls/call-entry.ts";
import { asyncCallRow, syncCallRow } from "../../runtime/core/history/call-row.ts";
import type { CallRow } from "../../runtime/core/history/history-row.ts";
import type { CallChange, CallFilter, CallHistoryWriter } from "../../runtime/core/ports/call-history.ts";
import {
  historyChange,
  historyEntry,
  historyId,
  historyStart,
  historySyncCall,
  listPages,
  numbersOf,
  openEntry,
} from "../support/history-calls.ts";
import { randomCalls } from "../support/random-call.ts";
import {
  rollupContract,
  rollupPoint,
  unboundedHistory,
  type OpenCallHistory,
  type OpenedHistory,
} from "./call-history-rollups.contract.ts";

const minute = 60_000;
const hour = 3_600_000;
const day = 86_400_000;
const pay = { namespace: "shop", name: "pay" };
const echo = { namespace: "functions", name: "echo" };

/** What every `CallHistory` with its `CallHistoryWriter` promises. */
export function callHistoryContract(open: () => Promise<OpenCallHistory>): void {
  const opened = (name: string, body: (history: OpenCallHistory) => Promise<void>): void => {
    test(name, async () => {
      const history = await open();
      try {
        await body(history);
      } finally {
        await history.close();
      }
    });
  };
  describe("a call", () => callTests(opened));
  describe("list()", () => listTests(opened));
  describe("removal", () => removalTests(opened));
  describe("progress", () => progressTests(opened));
  describe("rollups()", () => rollupContract(opened));
}

function apply(writer: CallHistoryWriter, changes: readonly CallChange[]): Promise<void> {
  return writer.apply({ changes, rollups: [] });
}

/** A record with every member. */
function fullEntry(number: number): CallEntry {
  const accepted = historyStart + 1_000 * number;
  return historyEntry(number, {
    state: "failed",
    queue: "slow",
    namespace: "shop",
    function: "pay",
    accepted: `${accepted}123456`,
    run: 3,
    retries: 2,
    lost: 1,
    attempts: [
      { number: 1, startedAt: accepted + 5, endedAt: accepted + 9, status: 503, duration: 3.25, next: accepted + 99 },
      { number: 2, startedAt: accepted + 100, endedAt: accepted + 101, error: "the queue-worker was lost" },
      { number: 3, startedAt: accepted + 200, worker: "host-1", replica: "pay-7", coldStart: 812, status: 500 },
    ],
    ended: accepted + 300,
    reason: "exhausted",
    status: 500,
    result: { run: 3, size: 12, stored: false, ttl: 3_600_000 },
    pending: ["callback", "dead-letter"],
    callback: {
      url: "https://example.com/done",
      state: "failed",
      attempts: 9,
      status: 502,
      error: "answered 502",
      next: accepted + 500,
      first: accepted + 310,
      until: accepted + 900,
      tries: [{ number: 8, at: accepted + 400, status: 502, ms: 31, error: "answered 502" }],
    },
    maxRetries: 2,
    parent: historyId(4_000),
    principal: { subject: "fed:alice", issuer: "https://issuer.example" },
    replayOf: historyId(4_001),
    source: "replay",
    redriven: accepted + 150,
    redrives: 1,
  });
}

function callTests(opened: OpenedHistory): void {
  opened("is returned by get() as it was applied, with everything its record says", async ({ reads, writer }) => {
    const [full, small] = [fullEntry(1), historyEntry(2)];
    const sync = historySyncCall(3, { replica: "echo-1", coldStart: 250.5 });
    await apply(writer, [
      { kind: "entry", id: historyId(1), revision: 7, entry: full },
      { kind: "entry", id: historyId(2), revision: 8, entry: small },
      { kind: "sync", call: sync },
    ]);

    expect(await reads.get(historyId(1))).toEqual({
      row: asyncCallRow(historyId(1), 7, full),
      details: { entry: full },
    });
    expect(await reads.get(historyId(2))).toEqual({
      row: asyncCallRow(historyId(2), 8, small),
      details: { entry: small },
    });
    expect(await reads.get(historyId(3))).toEqual({ row: syncCallRow(sync), details: { sync } });
    expect(await reads.get(historyId(4))).toBeUndefined();
  });

  opened("takes only a greater revision, and keeps what was before a redrive", async ({ reads, writer }) => {
    const failed = historyEntry(1, { state: "failed", reason: "exhausted", status: 500 });
    const redriven = historyEntry(1, { ...openEntry, run: 1, redrives: 1, redriven: historyStart + 9_000 });
    const later: CallChange = { kind: "entry", id: historyId(1), revision: 9, entry: redriven };
    await apply(writer, [later]);
    await apply(writer, [{ kind: "entry", id: historyId(1), revision: 5, entry: failed }, later]);

    const call = await reads.get(historyId(1));
    expect(call?.row).toMatchObject({ state: "queued", revision: 9 });
    expect(call?.details.earlier?.map(({ revision, entry }) => [revision, entry.reason])).toEqual([[5, "exhausted"]]);
    expect(call?.details.entry?.attempts).toEqual(failed.attempts);
  });

  opened("is the same whatever the order of its changes, and however often each comes", async ({ reads, writer }) => {
    const stories = randomCalls(20).chain(({ changes }) =>
      fc
        .tuple(fc.shuffledSubarray([...changes, ...changes]), fc.integer({ min: 1, max: 5 }))
        .map(([some, size]) => ({ changes, mixed: [...some, ...changes.toReversed()], size })),
    );
    await fc.assert(
      fc.asyncProperty(stories, async ({ changes, mixed, size }) => {
        const [one, other] = [randomUUID(), randomUUID()];
        await apply(
          writer,
          changes.map((change) => ({ ...change, id: one })),
        );
        for (let from = 0; from < mixed.length; from += size)
          await apply(
            writer,
            mixed.slice(from, from + size).map((change) => ({ ...change, id: other })),
          );
        const expected = await reads.get(one);
        const found = await reads.get(other);
        expect(found).toEqual(expected && { ...expected, row: { ...expected.row, id: other } });
      }),
      { numRuns: 25 },
    );
  });

  opened("that was withdrawn goes, also if its changes come in another order", async ({ reads, writer }) => {
    const [first, second] = [historyChange(1, openEntry, 1), historyChange(2, openEntry, 2)];
    await apply(writer, [first]);
    await apply(writer, [{ kind: "withdrawn", id: historyId(1), revision: 3 }]);
    await apply(writer, [{ kind: "withdrawn", id: historyId(2), revision: 4 }]);
    await apply(writer, [first, second]);
    expect(await reads.list({ filter: {}, limit: 10 })).toEqual({ rows: [], total: { value: 0, exact: true } });

    await apply(writer, [historyChange(2, openEntry, 5)]);
    expect(numbersOf((await reads.list({ filter: {}, limit: 10 })).rows)).toEqual([2]);
    expect(await writer.openCalls(undefined, 10)).toEqual([historyId(2)]);
  });

  opened("that is running is not withdrawn", async ({ reads, writer }) => {
    await apply(writer, [
      historyChange(1, { ...openEntry, state: "running", run: 1 }, 1),
      { kind: "withdrawn", id: historyId(1), revision: 2 },
    ]);
    expect((await reads.get(historyId(1)))?.row.state).toBe("running");
  });

  opened("whose record is gone becomes unknown until there is a later one", async ({ reads, writer }) => {
    await apply(writer, [
      historyChange(5, openEntry),
      historyChange(3, { ...openEntry, state: "waiting" }),
      historyChange(4),
      historyChange(1, { ...openEntry, state: "running" }),
      { kind: "sync", call: historySyncCall(2) },
    ]);
    expect(await writer.openCalls(undefined, 2)).toEqual([historyId(1), historyId(3)]);
    expect(await writer.openCalls(historyId(3), 2)).toEqual([historyId(5)]);
    expect(await writer.openCalls(historyId(5), 2)).toEqual([]);

    await writer.markUnknown([historyId(1), historyId(4), historyId(5), historyId(99)]);
    expect(await writer.openCalls(undefined, 10)).toEqual([historyId(3)]);
    const { rows, total } = await reads.list({ filter: { states: ["unknown"] }, limit: 10 });
    expect(numbersOf(rows)).toEqual([5, 1]);
    expect(total).toEqual({ value: 2, exact: true });
    expect((await reads.get(historyId(1)))?.details.entry?.state).toBe("running");

    await apply(writer, [historyChange(1, { ...openEntry, state: "running" })]);
    expect((await reads.get(historyId(1)))?.row.state).toBe("unknown");
    await apply(writer, [historyChange(1, {}, 1_000)]);
    expect((await reads.get(historyId(1)))?.row.state).toBe("done");
  });

  opened("lists its replays, oldest first, at most 100", async ({ reads, writer }) => {
    const replay = { replayOf: historyId(1), source: "replay" } as const;
    const numbers = Array.from({ length: 120 }, (_, index) => index + 2);
    await apply(writer, [historyChange(1), ...numbers.map((number) => historyChange(number, replay)).reverse()]);
    const found = await reads.replaysOf(historyId(1));
    expect(numbersOf(found.map((id) => ({ id })))).toEqual(numbers.slice(0, 100));
    expect(await reads.replaysOf(historyId(2))).toEqual([]);
  });
}

/** Calls of two functions, queues, kinds and sources, in all states. */
const mixedChanges: readonly CallChange[] = [
  ...Array.from({ length: 24 }, (_, number) => historyChange(number)),
  ...Array.from({ length: 8 }, (_, index) =>
    historyChange(24 + index, { state: "failed", reason: index % 2 ? "exhausted" : "rejected", status: 400 + index }),
  ),
  ...Array.from({ length: 6 }, (_, index) => historyChange(32 + index, { ...openEntry, queue: "slow" })),
  historyChange(38, { ...openEntry, state: "running", namespace: "shop", function: "pay" }),
  historyChange(39, { state: "cancelled", status: null, namespace: "shop", function: "pay" }),
  historyChange(40, { source: "replay", replayOf: historyId(1), namespace: "shop", function: "pay" }),
  historyChange(41, { namespace: "shop", function: "refund", status: 204 }),
  ...Array.from({ length: 5 }, (_, index) => ({ kind: "sync", call: historySyncCall(42 + index) }) as const),
  { kind: "sync", call: historySyncCall(47, { status: 200, ...pay }) },
];

const at = (number: number): number => historyStart + 1_000 * number;
const isIn = (row: CallRow, namespace: string, name: string) => row.namespace === namespace && row.name === name;

/** Filters, and which rows they leave. */
const filters: readonly (readonly [CallFilter, (row: CallRow) => boolean])[] = [
  [{}, () => true],
  [{ function: pay }, (row) => isIn(row, "shop", "pay")],
  [{ namespace: "shop" }, (row) => row.namespace === "shop"],
  [{ namespace: "shop", function: pay }, (row) => isIn(row, "shop", "pay")],
  [{ queue: "slow" }, (row) => row.queue === "slow"],
  [{ kind: "sync" }, (row) => row.kind === "sync"],
  [{ kind: "async" }, (row) => row.kind === "async"],
  [{ states: ["failed"] }, (row) => row.state === "failed"],
  [{ states: ["done"] }, (row) => row.state === "done"],
  [{ states: ["done", "cancelled"] }, (row) => row.state === "done" || row.state === "cancelled"],
  [{ states: ["queued", "running", "failed"] }, ({ state }) => ["queued", "running", "failed"].includes(state)],
  [{ statuses: [[500, 599]] }, ({ status }) => status !== null && status >= 500],
  [
    {
      statuses: [
        [204, 204],
        [400, 403],
      ],
    },
    ({ status }) => [204, 400, 401, 402, 403].includes(status ?? 0),
  ],
  [{ reasons: ["exhausted"] }, ({ reason }) => reason === "exhausted"],
  [{ reasons: ["exhausted", "rejected"] }, ({ reason }) => reason !== null],
  [{ sources: ["replay"] }, ({ source }) => source === "replay"],
  [{ since: at(10) }, ({ accepted }) => accepted >= at(10)],
  [{ until: at(10) }, ({ accepted }) => accepted < at(10)],
  [{ since: at(5) + 1, until: at(41) }, ({ accepted }) => accepted > at(5) && accepted < at(41)],
  [{ since: at(30), function: pay }, (row) => row.accepted >= at(30) && isIn(row, "shop", "pay")],
  [{ states: ["failed"], until: at(27) }, ({ state, accepted }) => state === "failed" && accepted < at(27)],
  [{ idPrefix: "0000002" }, ({ id }) => id.startsWith("0000002")],
  [{ idPrefix: "00000028" }, ({ id }) => id.startsWith("00000028")],
  [{ idPrefix: historyId(12).replaceAll("-", "") }, ({ id }) => id === historyId(12)],
  [{ idPrefix: "0000", states: ["failed"] }, ({ state }) => state === "failed"],
  [{ permitted: ["shop/pay", "shop/refund", "other/pay"] }, ({ namespace }) => namespace === "shop"],
  [{ permitted: ["shop/pay"], namespace: "shop" }, (row) => isIn(row, "shop", "pay")],
  [{ permitted: ["functions/echo", "shop/pay", "shop/refund"] }, () => true],
  [
    { permitted: ["functions/echo"], states: ["failed"], kind: "async" },
    ({ kind, state }) => kind === "async" && state === "failed",
  ],
  [
    { permitted: Array.from({ length: 12_000 }, (_, index) => `shop/f${index}`).concat("shop/refund") },
    ({ name }) => name === "refund",
  ],
  [{ permitted: [] }, () => false],
  [{ function: { namespace: "shop", name: "echo" } }, () => false],
  [{ namespace: "functions", function: pay }, () => false],
  [{ queue: "none" }, () => false],
  [{ states: ["waiting"] }, () => false],
  [{ reasons: ["it's; DROP TABLE call --"] }, () => false],
  [{ reasons: ["exhausted\0", '{"a","b\\'] }, () => false],
  [{ queue: "slow\0" }, () => false],
  [{ idPrefix: "0000", states: ["waiting"] }, () => false],
  [{ since: at(20), until: at(20) }, () => false],
  [{ idPrefix: "ffff" }, () => false],
];

function listTests(opened: OpenedHistory): void {
  opened("lists what each filter leaves, newest first, and counts it", async ({ reads, writer }) => {
    await apply(writer, mixedChanges);
    const { rows: all } = await listPages(reads);
    expect(numbersOf(all)).toEqual(Array.from({ length: 48 }, (_, index) => 47 - index));
    for (const [filter, leaves] of filters) {
      const expected = all.filter(leaves);
      for (const limit of [1, 7, 500]) {
        const { rows, pages } = await listPages(reads, filter, limit);
        expect({ filter, numbers: numbersOf(rows) }).toEqual({ filter, numbers: numbersOf(expected) });
        for (const { total, rows: some } of pages) {
          expect({ filter, total }).toEqual({ filter, total: { value: expected.length, exact: true } });
          expect(some.length).toBeLessThanOrEqual(limit);
        }
      }
    }
  });

  opened("shows a row as get() does", async ({ reads, writer }) => {
    await apply(writer, [
      { kind: "entry", id: historyId(1), revision: 3, entry: fullEntry(1) },
      ...mixedChanges.slice(2),
    ]);
    for (const row of (await listPages(reads)).rows) expect((await reads.get(row.id))?.row).toEqual(row);
  });

  opened("pages without doubles and holes while calls are added and change", async ({ reads, writer }) => {
    // Three of each time of acceptance.
    const numbers = Array.from({ length: 60 }, (_, index) => index);
    const accepted = (number: number) => `${at(Math.floor(number / 3))}000000`;
    await apply(
      writer,
      numbers.map((number) => historyChange(number, { accepted: accepted(number) })),
    );
    for (const filter of [{}, { function: echo }, { queue: "default" }, { states: ["done"] }] as const) {
      let added = 1_000;
      const { rows, pages } = await listPages(reads, filter, 7, async (page) => {
        await apply(writer, [
          historyChange((added += 1), {}),
          historyChange(page, { accepted: accepted(page), retries: page }, 5_000 + added),
        ]);
      });
      expect(numbersOf(rows).filter((number) => number < 1_000)).toEqual(numbers.toReversed());
      expect(pages.length).toBeGreaterThan(8);
    }
  });

  opened("pages through calls of many days, in whatever order they came", async ({ reads, writer }) => {
    const acceptedAt = (number: number) => historyStart + 7 * hour * number;
    const numbers = Array.from({ length: 100 }, (_, index) => index);
    const shop = { namespace: "shop", function: "pay" };
    const changes = numbers.map((number) =>
      historyChange(number, {
        accepted: `${acceptedAt(number)}000000`,
        ...(number % 3 === 0 ? ({ state: "failed", status: 500 } as const) : {}),
        ...(number % 5 === 0 ? shop : {}),
      }),
    );
    for (const part of [2, 0, 1])
      await apply(
        writer,
        changes.filter((_change, index) => index % 3 === part),
      );
    const timed = { since: acceptedAt(11) - 1, until: acceptedAt(77) };
    const days: readonly (readonly [CallFilter, (number: number) => boolean])[] = [
      [{}, () => true],
      [{ states: ["failed"] }, (number) => number % 3 === 0],
      [{ function: pay }, (number) => number % 5 === 0],
      [{ function: pay, statuses: [[500, 599]] }, (number) => number % 15 === 0],
      [timed, (number) => number >= 11 && number < 77],
      [{ ...timed, states: ["failed"] }, (number) => number >= 11 && number < 77 && number % 3 === 0],
      [{ ...timed, function: pay }, (number) => number >= 11 && number < 77 && number % 5 === 0],
    ];
    for (const [filter, leaves] of days) {
      const { rows, pages } = await listPages(reads, filter, 7);
      const expected = numbers.filter(leaves).toReversed();
      expect({ filter, numbers: numbersOf(rows) }).toEqual({ filter, numbers: expected });
      expect(pages[0]?.total).toEqual({ value: expected.length, exact: true });
    }
    expect((await reads.get(historyId(50)))?.row.accepted).toBe(acceptedAt(50));
    const now = acceptedAt(99);
    while (await writer.trim({ ...unboundedHistory, age: 49 * 7 * hour }, now));
    expect(numbersOf((await listPages(reads)).rows)).toEqual(numbers.slice(50).toReversed());
    expect(await writer.size()).toMatchObject({ calls: 50 });
  });

  opened("pages through many calls with a filter that few match", async ({ reads, writer }) => {
    const rare = { state: "failed", status: 507, reason: "crash" } as const;
    for (let from = 0; from < 4_000; from += 1_000)
      await apply(
        writer,
        Array.from({ length: 1_000 }, (_, index) =>
          historyChange(from + index, (from + index) % 999 === 0 ? rare : {}),
        ),
      );
    for (const filter of [{ statuses: [[507, 507]] }, { reasons: ["crash"] }, { states: ["failed"] }] as const) {
      const { rows, pages } = await listPages(reads, filter, 2);
      expect(numbersOf(rows)).toEqual([3_996, 2_997, 1_998, 999, 0]);
      expect(pages[0]?.total).toEqual({ value: 5, exact: true });
    }
    const { total } = await reads.list({ filter: {}, limit: 1 });
    expect(total).toEqual({ value: 4_000, exact: true });
    const timed = await reads.list({ filter: { since: at(500) + 1, until: at(3_500) }, limit: 1 });
    expect(timed.total).toEqual({ value: 2_999, exact: true });
  });
}

function removalTests(opened: OpenedHistory): void {
  opened("for good keeps a call away, whatever comes later", async ({ reads, writer }) => {
    await apply(writer, [historyChange(1), historyChange(2, openEntry), { kind: "sync", call: historySyncCall(3) }]);
    expect(await writer.remove(historyId(1))).toBe(true);
    expect(await writer.remove(historyId(1))).toBe(true);
    expect(await writer.remove(historyId(2))).toBe(false);
    expect(await writer.remove(historyId(3))).toBe(true);
    expect(await writer.remove(historyId(4))).toBe(true);

    await apply(writer, [
      historyChange(1, {}, 1_000),
      { kind: "sync", call: historySyncCall(3) },
      historyChange(4),
      { kind: "withdrawn", id: historyId(4), revision: 2_000 },
      historyChange(4, {}, 3_000),
    ]);
    const { rows, total } = await reads.list({ filter: {}, limit: 10 });
    expect(numbersOf(rows)).toEqual([2]);
    expect(total).toEqual({ value: 1, exact: true });
    expect(await reads.get(historyId(1))).toBeUndefined();
    expect(await writer.size()).toMatchObject({ calls: 1 });
  });

  opened("of too many calls takes the oldest that have ended, 1 000 at a time", async ({ reads, writer }) => {
    const bounds = { ...unboundedHistory, calls: 100 };
    await apply(
      writer,
      Array.from({ length: 1_200 }, (_, number) => historyChange(number, number < 5 ? openEntry : {})),
    );
    expect(await writer.trim(unboundedHistory, at(2_000))).toBe(false);
    expect(await writer.size()).toMatchObject({ calls: 1_200 });

    expect(await writer.trim(bounds, at(2_000))).toBe(true);
    expect(await writer.size()).toMatchObject({ calls: 200 });
    expect(await writer.trim(bounds, at(2_000))).toBe(false);
    const { rows, pages } = await listPages(reads, {}, 500);
    expect(numbersOf(rows)).toEqual(Array.from({ length: 95 }, (_, index) => 1_199 - index).concat(4, 3, 2, 1, 0));
    expect(pages[0]?.total).toEqual({ value: 100, exact: true });
    expect(await writer.trim(bounds, at(2_000))).toBe(false);
  });

  opened("of old calls leaves those that are open, and those that are not older", async ({ reads, writer }) => {
    await apply(
      writer,
      Array.from({ length: 20 }, (_, number) => historyChange(number, number % 5 === 0 ? openEntry : {})),
    );
    expect(await writer.trim({ ...unboundedHistory, age: hour }, at(10) + hour)).toBe(false);
    expect(numbersOf((await listPages(reads)).rows)).toEqual([19, 18, 17, 16, 15, 14, 13, 12, 11, 10, 5, 0]);

    // What was open may end.
    await apply(
      writer,
      [0, 5, 10, 15].map((number) => historyChange(number, {}, 1_000)),
    );
    await writer.trim({ ...unboundedHistory, age: hour }, at(10) + hour + 2 * minute);
    expect(numbersOf((await listPages(reads)).rows)).toEqual([]);
    expect(await reads.functions()).toEqual([]);
  });

  opened("of too many bytes goes on until they fit", async ({ writer }) => {
    for (let from = 0; from < 5_000; from += 1_000)
      await apply(
        writer,
        Array.from({ length: 1_000 }, (_, index) => historyChange(from + index)),
      );
    const before = await writer.size();
    const bounds = { ...unboundedHistory, bytes: Math.floor(before.bytes / 2) };
    let trims = 1;
    while (await writer.trim(bounds, at(6_000))) trims += 1;
    const after = await writer.size();
    expect(after.bytes).toBeLessThanOrEqual(bounds.bytes);
    expect(after.calls).toBeGreaterThan(before.calls / 5);
    expect(trims).toBeGreaterThan(1);
  });

  opened("of a namespace takes all of it", async ({ reads, writer }) => {
    await apply(writer, [
      ...mixedChanges,
      ...Array.from({ length: 2_500 }, (_, index) =>
        historyChange(100 + index, { namespace: "shop", function: "pay" }),
      ),
    ]);
    await writer.apply({ changes: [], rollups: [rollupPoint(0, pay), rollupPoint(0, echo)] });
    await writer.removeNamespace("shop");
    await writer.removeNamespace("none");

    expect(await reads.functions()).toEqual([echo]);
    const { rows, pages } = await listPages(reads);
    expect(rows.every(({ namespace }) => namespace === "functions")).toBe(true);
    expect(pages[0]?.total).toEqual({ value: 43, exact: true });
    expect((await reads.list({ filter: { namespace: "shop" }, limit: 5 })).total.value).toBe(0);
    const [series] = await reads.rollups({ functions: [pay], step: "10s", since: historyStart, until: at(10) });
    expect(series?.calls).toEqual([null]);

    await apply(writer, [historyChange(50, { namespace: "shop", function: "pay" })]);
    expect(await reads.functions()).toEqual([echo, pay]);
  });
}

function progressTests(opened: OpenedHistory): void {
  opened("position() is that of the last batch that has one", async ({ writer }) => {
    const position = { created: "2027-01-15T08:00:00.123456789Z", sequence: 17, at: historyStart, base: 4 };
    expect(await writer.position()).toBeUndefined();
    await writer.apply({ changes: [historyChange(1)], rollups: [], position });
    await apply(writer, [historyChange(2)]);
    expect(await writer.position()).toEqual(position);
    await writer.apply({ changes: [], rollups: [], position: { ...position, sequence: 18 } });
    expect(await writer.position()).toEqual({ ...position, sequence: 18 });
  });

  opened("gaps() lists gaps by their begin; one that grows is one, and an old one goes", async ({ reads, writer }) => {
    const gap = (from: number, to: number) => writer.apply({ changes: [], rollups: [], gap: { from, to } });
    await gap(at(50), at(60));
    await gap(at(10), at(20));
    await gap(at(10), at(30));
    await gap(at(10), at(25));
    expect(await reads.gaps()).toEqual([
      { from: at(10), to: at(30) },
      { from: at(50), to: at(60) },
    ]);
    await writer.trim({ ...unboundedHistory, age: hour }, at(31) + hour);
    expect(await reads.gaps()).toEqual([{ from: at(50), to: at(60) }]);
  });

  opened("functions() lists those with calls or rollups, sorted", async ({ reads, writer }) => {
    expect(await reads.functions()).toEqual([]);
    await writer.apply({
      changes: [historyChange(1)],
      rollups: [rollupPoint(0, pay), rollupPoint(0, { ...pay, name: "a" })],
    });
    expect(await reads.functions()).toEqual([echo, { ...pay, name: "a" }, pay]);
    await writer.trim({ ...unboundedHistory, age: 1_000 * day }, at(0) + 91 * day);
    expect(await reads.functions()).toEqual([echo]);
  });
}
