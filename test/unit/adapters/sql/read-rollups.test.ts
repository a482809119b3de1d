import { describe, expect, test } from "vitest";

import { SqlCallHistory } from "../../../../runtime/adapters/sql/calls/sql-call-history.ts";
import { rollupSeries } from "../../../../runtime/core/history/rollups/rollup-series.ts";
import type { RollupPoint } from "../../../../runtime/core/history/rollups/rollup.ts";
import type { RollupQuery } from "../../../../runtime/core/ports/call-history.ts";
import { historyStart } from "../../../support/history-calls.ts";
import { SqliteHistoryInMemory } from "../../../support/sqlite-history.ts";

const functions = Array.from({ length: 40 }, (_, index) => ({ namespace: "functions", name: `f${index}` }));
/** So long that the functions have too many intervals to be read one by one. */
const query: RollupQuery = {
  functions,
  step: "10s",
  since: historyStart,
  until: historyStart + 20_000_000,
};

/** Ten intervals of two sources; functions of equal numbers of calls are next to each other. */
const points: readonly RollupPoint[] = functions.flatMap((ref, index) =>
  Array.from({ length: 20 }, (_, number) => ({
    ...ref,
    source: `gateway-${number % 2}`,
    at: historyStart + 10_000 * Math.floor(number / 2),
    calls: [0, Math.floor(index / 4), 0, 1, number % 3],
    coldStarts: number % 2,
    durations: [number, 3, 40 + (index % 30), 1],
    replicas: 1 + (index % 3),
    inFlight: number,
    queued: index,
  })),
);

describe("rollups of many functions in many intervals", () => {
  test("are summed as their points say, and fewer rows are read than there are points", async () => {
    using stored = new SqliteHistoryInMemory();
    stored.store([], points);
    const history = new SqlCallHistory(stored);
    for (const step of ["10s", "1m"] as const) {
      const summed = { ...query, step, summed: true, until: historyStart + (step === "1m" ? 120_000_000 : 20_000_000) };
      stored.statements.length = 0;
      const series = await history.rollups(summed);
      expect(stored.statements).toHaveLength(2);
      const expected = rollupSeries(points, summed);
      expect(series).toEqual(expected.map((one) => ({ ...one, scalings: [] })));
    }
  });

  test("are those with most calls, told apart by their names", async () => {
    using stored = new SqliteHistoryInMemory();
    stored.store([], points);
    const top = { ...query, top: 6 };
    const series = await new SqlCallHistory(stored).rollups(top);
    expect(series.map(({ name }) => name)).toEqual(["f36", "f37", "f38", "f39", "f32", "f33"]);
    expect(series).toEqual(rollupSeries(points, top));
    expect(stored.statements).toHaveLength(2 + 8);
  });

  test("are summed function by function for who may not see all", async () => {
    using stored = new SqliteHistoryInMemory();
    stored.store([], points);
    const some = { ...query, functions: functions.slice(1), summed: true };
    expect(await new SqlCallHistory(stored).rollups(some)).toEqual(rollupSeries(points, some));
  });
});
