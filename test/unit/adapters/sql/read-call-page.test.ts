import fc from "fast-check";
import { describe, expect, test } from "vitest";

import { SqlCallHistory } from "../../../../runtime/adapters/sql/calls/sql-call-history.ts";
import type { CallState } from "../../../../runtime/api/schemas/call-record.ts";
import type { CallSource } from "../../../../runtime/core/calls/call-entry.ts";
import { asyncCallRow } from "../../../../runtime/core/history/call-row.ts";
import type { HistoryCall } from "../../../../runtime/core/history/history-row.ts";
import type { CallChange, CallFilter } from "../../../../runtime/core/ports/call-history.ts";
import { historyEntry, historyId, historyStart, listPages, numbersOf } from "../../../support/history-calls.ts";
import { MemoryCallHistory } from "../../../support/memory/memory-call-history.ts";
import { SqliteHistoryInMemory } from "../../../support/sqlite-history.ts";

const states: readonly CallState[] = ["queued", "running", "waiting", "done", "failed", "cancelled"];
const names = ["a", "b", "c"];

type EntryChange = Extract<CallChange, { kind: "entry" }>;

interface Facts {
  readonly name: string;
  readonly namespace: string;
  readonly state: CallState;
  readonly queue: string;
  readonly status: number | null;
  readonly second: number;
  readonly source: CallSource;
}

const anyFacts: fc.Arbitrary<Facts> = fc.record({
  name: fc.constantFrom(...names),
  namespace: fc.constantFrom("functions", "shop"),
  state: fc.oneof(fc.constantFrom(...states), fc.constant("done" as const)),
  queue: fc.constantFrom("default", "slow"),
  status: fc.constantFrom(null, 200, 204, 500),
  second: fc.integer({ min: 0, max: 150 }),
  source: fc.constantFrom("http", "replay"),
});
const time = fc.integer({ min: 0, max: 150_000 }).map((offset) => historyStart + offset);
const members: Readonly<Record<string, fc.Arbitrary<CallFilter>>> = {
  function: fc.constantFrom(...names, "none").map((name) => ({ function: { namespace: "shop", name } })),
  namespace: fc.constantFrom("functions", "shop", "none").map((namespace) => ({ namespace })),
  queue: fc.constantFrom("default", "slow").map((queue) => ({ queue })),
  states: fc.uniqueArray(fc.constantFrom(...states), { minLength: 1, maxLength: 4 }).map((some) => ({ states: some })),
  statuses: fc.constantFrom(
    { statuses: [[200, 299]] } as const,
    {
      statuses: [
        [500, 599],
        [204, 204],
      ],
    } as const,
  ),
  sources: fc.constant({ sources: ["replay"] } as const),
  since: time.map((since) => ({ since })),
  until: time.map((until) => ({ until })),
  idPrefix: fc.constantFrom("0000", "000000", "0000001", "00000012").map((idPrefix) => ({ idPrefix })),
  permitted: fc
    .uniqueArray(fc.constantFrom("functions/a", "functions/b", "shop/a", "shop/c"), { minLength: 1 })
    .map((permitted) => ({ permitted })),
};
/** Of few members: of many of them nothing is left. */
const filter: fc.Arbitrary<CallFilter> = fc
  .uniqueArray(fc.constantFrom(...Object.keys(members)), { minLength: 1, maxLength: 3 })
  .chain((keys) => fc.tuple(...keys.flatMap((key) => members[key] ?? [])))
  .map((parts) => Object.assign({}, ...parts) as CallFilter);

const usual: Facts = {
  name: "a",
  namespace: "functions",
  state: "done",
  queue: "default",
  status: 200,
  second: 0,
  source: "http",
};

function changesOf(all: readonly Facts[]): readonly EntryChange[] {
  return all.map(({ name, second, ...own }, number) => ({
    kind: "entry",
    id: historyId(number),
    revision: number + 1,
    entry: historyEntry(number, { ...own, function: name, accepted: `${historyStart + 1_000 * second}000000` }),
  }));
}

function callsOf(changes: readonly EntryChange[]): readonly HistoryCall[] {
  return changes.map(({ id, revision, entry }) => ({ row: asyncCallRow(id, revision, entry), details: { entry } }));
}

describe("readCallPage()", () => {
  test("lists what a filter leaves however few entries a page may read, and says when its total is exact", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(anyFacts, { maxLength: 60, size: "max" }),
        fc.array(filter, { minLength: 12, maxLength: 12 }),
        fc.integer({ min: 1, max: 40 }),
        fc.integer({ min: 1, max: 20 }),
        async (all, asked, maxEntries, limit) => {
          using stored = new SqliteHistoryInMemory();
          const memory = new MemoryCallHistory();
          const changes = changesOf(all);
          stored.store(callsOf(changes));
          await memory.apply({ changes, rollups: [] });
          const history = new SqlCallHistory(stored, { maxEntries });
          for (const one of asked) {
            const expected = (await memory.list({ filter: one, limit: 1_000 })).rows;
            const { rows, pages } = await listPages(history, one, limit);
            expect({ one, numbers: numbersOf(rows) }).toEqual({ one, numbers: numbersOf(expected) });
            for (const { total } of pages)
              if (total.exact) expect({ one, total }).toEqual({ one, total: { value: expected.length, exact: true } });
          }
        },
      ),
      { numRuns: 30 },
    );
  });

  test("estimates a total from the newest entries if there are more than it may read", async () => {
    using stored = new SqliteHistoryInMemory();
    const facts = Array.from({ length: 1_000 }, (_, second) => ({
      ...usual,
      queue: second % 4 === 0 ? "slow" : "default",
      second,
    }));
    stored.store(callsOf(changesOf(facts)));
    const history = new SqlCallHistory(stored, { maxEntries: 100 });
    const { rows, total } = await history.list({ filter: { queue: "slow" }, limit: 10 });
    expect(rows).toHaveLength(10);
    expect(total).toEqual({ value: 250, exact: false });
    const timed = await history.list({ filter: { queue: "slow", since: historyStart + 500_000 }, limit: 10 });
    expect(timed.total).toEqual({ value: 125, exact: false });
    const rare = await history.list({ filter: { statuses: [[500, 599]] }, limit: 10 });
    expect(rare).toMatchObject({ rows: [], total: { value: 0, exact: false } });
    expect(rare.next).toEqual({ accepted: historyStart + 900_000, id: historyId(900) });
  });

  test("counts times by whole minutes and the calls at their edges", async () => {
    using stored = new SqliteHistoryInMemory();
    stored.store(callsOf(changesOf(Array.from({ length: 300 }, (_, second) => ({ ...usual, second })))));
    const history = new SqlCallHistory(stored);
    const totalOf = async (from: number, to: number) =>
      (await history.list({ filter: { since: historyStart + from, until: historyStart + to }, limit: 1 })).total;
    for (const [from, to, value] of [
      [0, 300_000, 300],
      [0, 60_000, 60],
      [1, 60_000, 59],
      [1_000, 59_000, 58],
      [59_000, 61_000, 2],
      [59_001, 60_000, 0],
      [30_000, 270_001, 241],
      [299_000, 900_000, 1],
    ] as const)
      expect([from, to, await totalOf(from, to)]).toEqual([from, to, { value, exact: true }]);
  });
});
