import { describe, expect, test } from "vitest";

import { SqlCallHistory } from "../../../../runtime/adapters/sql/calls/sql-call-history.ts";
import { CallTable } from "../../../../runtime/adapters/sqlite/calls/call-table.ts";
import { FunctionRemoval } from "../../../../runtime/adapters/sqlite/calls/function-removal.ts";
import { NameTable } from "../../../../runtime/adapters/sqlite/calls/name-table.ts";
import { ProgressTable } from "../../../../runtime/adapters/sqlite/calls/progress-table.ts";
import { RollupTable } from "../../../../runtime/adapters/sqlite/calls/rollup-table.ts";
import { TombstoneTable } from "../../../../runtime/adapters/sqlite/calls/tombstone-table.ts";
import { CallTrim } from "../../../../runtime/adapters/sqlite/calls/trim-calls.ts";
import { asyncCallRow } from "../../../../runtime/core/history/call-row.ts";
import type { CallFilter } from "../../../../runtime/core/ports/call-history.ts";
import { historyEntry, historyId, historyStart } from "../../../support/history-calls.ts";
import { SqliteHistoryInMemory } from "../../../support/sqlite-history.ts";

/** Tables that are small, or that are the values of a statement: to read all of them is what is meant. */
const wholeTables = ["function", "f", "state_count", "gap", "json_each"];

/** The steps of a plan that read a table from end to end, or sort. */
function unboundedSteps(plan: readonly string[]): readonly string[] {
  return plan.filter(
    (step) =>
      step.includes("TEMP B-TREE") ||
      (step.startsWith("SCAN") &&
        !wholeTables.some((table) => step === `SCAN ${table}` || step.startsWith(`SCAN ${table} `))),
  );
}

/** Calls of 40 functions, the first 2 500 with ids that begin alike. */
function storedHistory(): SqliteHistoryInMemory {
  const stored = new SqliteHistoryInMemory();
  stored.store(
    Array.from({ length: 3_000 }, (_, number) => {
      const own = { function: `f${number % 40}`, ...(number % 30 === 0 ? ({ state: "failed" } as const) : {}) };
      const entry = historyEntry(number, own);
      const id = number < 2_500 ? historyId(number) : historyId(number).replace(/^0000/, "ffff");
      return { row: asyncCallRow(id, 1, entry), details: { entry } };
    }),
    Array.from({ length: 40 }, (_, index) => ({
      namespace: "functions",
      name: `f${index}`,
      source: "gateway",
      at: historyStart,
      calls: [0, index, 0, 0, 0],
    })),
  );
  return stored;
}

const ref = { namespace: "functions", name: "f3" };
const manyNames = Array.from({ length: 39 }, (_, index) => `functions/f${index}`);
const timed = { since: historyStart + 1_000, until: historyStart + 900_500 };
const filters: readonly CallFilter[] = [
  {},
  timed,
  { function: ref },
  { function: ref, ...timed },
  { function: ref, statuses: [[500, 599]] },
  { namespace: "functions" },
  { permitted: ["functions/f1", "functions/f2"], sources: ["replay"] },
  { permitted: manyNames },
  { permitted: manyNames, ...timed, queue: "default" },
  { states: ["failed"] },
  { states: ["failed", "cancelled", "queued"], ...timed },
  { states: ["failed"], reasons: ["crash"] },
  { states: ["done", "failed"], kind: "async" },
  { idPrefix: "ffff" },
  { idPrefix: "ffff", ...timed, states: ["failed"], function: ref },
  { idPrefix: "0000" },
];

describe("a statement", () => {
  test.each(filters)("of a list by %j reads no table from end to end, and sorts nothing", async (filter) => {
    using stored = storedHistory();
    const history = new SqlCallHistory(stored, { maxEntries: 500 });
    const { next, rows } = await history.list({ filter, limit: 5 });
    const last = next ?? rows.at(-1);
    if (last !== undefined) await history.list({ filter, limit: 5, after: last });
    expect(stored.statements.length).toBeGreaterThan(1);
    for (const statement of stored.statements)
      expect({ text: statement.text, steps: unboundedSteps(stored.planOf(statement)) }).toEqual({
        text: statement.text,
        steps: [],
      });
  });

  test("of any other read does neither", async () => {
    using stored = storedHistory();
    const history = new SqlCallHistory(stored);
    await history.get(historyId(1));
    await history.replaysOf(historyId(1));
    await history.functions();
    await history.gaps();
    const functions = Array.from({ length: 40 }, (_, index) => ({ namespace: "functions", name: `f${index}` }));
    const query = { functions, step: "10s", since: historyStart, until: historyStart + 20_000_000 } as const;
    await history.rollups(query);
    await history.rollups({ ...query, summed: true });
    await history.rollups({ ...query, top: 3 });
    for (const statement of stored.statements) {
      const { text } = statement;
      expect({ text, steps: unboundedSteps(stored.planOf(statement)) }).toEqual({ text, steps: [] });
    }
  });

  test("of the writer does neither", () => {
    using stored = new SqliteHistoryInMemory();
    const { database } = stored;
    const texts: string[] = [];
    const prepare = database.prepare.bind(database);
    database.prepare = (text, options) => {
      texts.push(text);
      return prepare(text, options);
    };
    const names = new NameTable(database);
    const calls = new CallTable(database, names);
    const rollups = new RollupTable(database, names);
    const others = [
      new TombstoneTable(database),
      new ProgressTable(database),
      new CallTrim(database, calls),
      new FunctionRemoval(database, calls, rollups),
    ];
    database.prepare = prepare;
    expect(texts.length).toBeGreaterThan(20 + others.length);
    for (const text of texts)
      expect({ text, steps: unboundedSteps(stored.planOf({ text, values: [] })) }).toEqual({ text, steps: [] });
  });

  test("that scans or sorts would be noticed", () => {
    using stored = storedHistory();
    for (const text of [
      "SELECT seq FROM call AS c WHERE retries = 1",
      "SELECT seq FROM call ORDER BY duration LIMIT 1",
    ])
      expect(unboundedSteps(stored.planOf({ text, values: [] }))).not.toEqual([]);
  });
});
