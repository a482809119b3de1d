import fc from "fast-check";
import { expect, test } from "vitest";

import { SqlCallHistory } from "../../../../runtime/adapters/sql/calls/sql-call-history.ts";
import { asyncCallRow } from "../../../../runtime/core/history/call-row.ts";
import type { CallFilter } from "../../../../runtime/core/ports/call-history.ts";
import { historyEntry, historyId, historyStart } from "../../../support/history-calls.ts";
import { SqliteHistoryInMemory } from "../../../support/sqlite-history.ts";

/** A part of every text that is asked for; no statement has it by itself. */
const mark = "zq'7";
const text = fc.string().map((some) => `${some}${mark}`);
/** Numbers of many digits, which no statement has by itself. */
const time = fc.integer({ min: 0, max: 99_999_999 }).map((some) => historyStart + 900_000_000_000 + some);

const filters: fc.Arbitrary<CallFilter> = fc.record(
  {
    function: fc.record({ namespace: text, name: text }),
    namespace: text,
    queue: text,
    states: fc.uniqueArray(fc.constantFrom("failed", "done", "queued"), { minLength: 1 }),
    statuses: fc.constant([[500, 599]] as const),
    reasons: fc.array(text, { minLength: 1 }),
    since: fc.integer({ min: 0, max: historyStart }),
    until: time,
    idPrefix: fc.constantFrom("0000", "00000001"),
    permitted: fc.array(text, { minLength: 1 }),
  },
  { requiredKeys: [] },
);

/** Names as they are asked for are stored, so that each statement is reached. */
function storedAs({ function: ref, namespace, queue, permitted }: CallFilter): SqliteHistoryInMemory {
  const stored = new SqliteHistoryInMemory();
  const [, allowedNamespace, allowedName] = /^(.*?)\/(.*)$/s.exec(permitted?.[0] ?? "") ?? [];
  const names = [
    [ref?.namespace ?? namespace ?? "functions", ref?.name ?? "echo"],
    [allowedNamespace ?? "functions", allowedName ?? "echo"],
    ["functions", "other"],
  ];
  stored.store(
    names.map(([owner = "", name = ""], number) => {
      const entry = historyEntry(number, { namespace: owner, function: name, queue: queue ?? "default" });
      return { row: asyncCallRow(historyId(number), 1, entry), details: { entry } };
    }),
  );
  return stored;
}

test("no statement of a read has in its text what it is asked for", async () => {
  const texts = new Set<string>();
  await fc.assert(
    fc.asyncProperty(filters, text, async (filter, name) => {
      using stored = storedAs(filter);
      const history = new SqlCallHistory(stored);
      const page = await history.list({ filter, limit: 7_654_321 });
      const after = { accepted: historyStart + 987_654_321, id: historyId(987_654) };
      await history.list({ filter, limit: 7_654_321, after });
      await history.get(name);
      await history.replaysOf(historyId(987_654));
      const functions = [{ namespace: name, name }, ...page.rows];
      const hour = 3_600_000;
      await history.rollups({ functions, step: "1h", since: historyStart, until: historyStart + 3 * hour });
      expect(stored.statements.length).toBeGreaterThan(3);
      for (const statement of stored.statements) {
        texts.add(statement.text);
        expect(statement.text).not.toContain(mark);
        expect(statement.text).not.toMatch(/\d{5}/);
      }
    }),
    { numRuns: 200 },
  );
  // They depend on which parameters there are, not on what these are.
  expect(texts.size).toBeLessThan(1_000);
});
