import fc from "fast-check";
import { Value } from "typebox/value";
import { describe, expect, test } from "vitest";

import { Rollups, rollupStepNames } from "../../../../../runtime/api/schemas/history/rollups.ts";
import { DurationCells, durationCellCount } from "../../../../../runtime/core/history/rollups/duration-cells.ts";
import { durationCell } from "../../../../../runtime/core/history/reports/duration-cell.ts";
import { rollupSeries } from "../../../../../runtime/core/history/rollups/rollup-series.ts";
import {
  rollupSteps,
  type RollupPoint,
  type RollupSeries,
} from "../../../../../runtime/core/history/rollups/rollup.ts";
import { rollupsView } from "../../../../../runtime/core/history/rollups/rollups-view.ts";
import type { RollupQuery } from "../../../../../runtime/core/ports/call-history.ts";

const from = Date.UTC(2026, 0, 31, 12, 0, 0);
const hello = { namespace: "functions", name: "hello" };
const pay = { namespace: "shop", name: "pay" };
const query: RollupQuery = { functions: [hello], step: "10s", since: from, until: from + 30_000 };

function point(over: Partial<RollupPoint> = {}): RollupPoint {
  return { ...hello, source: "gateway-1", at: from, ...over };
}

/** The durations as a process counts them. */
function counted(durations: readonly number[]): readonly number[] {
  const cells = Array.from({ length: durationCellCount }, () => 0);
  for (const duration of durations) cells[durationCell(duration)] = (cells[durationCell(duration)] ?? 0) + 1;
  return cells.flatMap((count, cell) => (count === 0 ? [] : [cell, count]));
}

describe("rollupSeries", () => {
  test("adds up what processes counted, and knows nothing of the rest", () => {
    const points = [
      point({ calls: [0, 3, 0, 1, 2], coldStarts: 1, inFlight: 2, replicas: 1 }),
      point({ source: "gateway-2", calls: [0, 4, 0, 0, 0], coldStarts: 0, inFlight: 5, replicas: 1 }),
      point({ source: "scaling", queued: 7 }),
      point({ at: from + 20_000, calls: [0, 0, 0, 0, 0] }),
    ];
    expect(rollupSeries(points, query)).toEqual([
      {
        ...hello,
        calls: [10, null, 0],
        errors: [2, null, 0],
        p50: [null, null, null],
        p95: [null, null, null],
        coldStarts: [1, null, null],
        replicas: [1, null, null],
        inFlight: [7, null, null],
        queued: [7, null, null],
        scalings: [],
      },
    ]);
  });

  test("takes counts as of the end from the last point of each process", () => {
    const points = [
      point({ at: from + 50_000, inFlight: 1, replicas: 2 }),
      point({ at: from + 10_000, inFlight: 9, replicas: 9 }),
      point({ source: "gateway-2", at: from + 20_000, inFlight: 4, replicas: 5 }),
    ];
    const minute: RollupQuery = { ...query, step: "1m", until: from + 60_000 };
    expect(rollupSeries(points, minute)).toMatchObject([{ inFlight: [5], replicas: [2] }]);
    expect(rollupSeries(points.toReversed(), minute)).toEqual(rollupSeries(points, minute));
  });

  test.each([
    [1, 3],
    [3, 1],
  ])("of %i and %i replicas that two processes saw at one time, takes the larger number", (one, other) => {
    const points = [point({ replicas: one }), point({ source: "gateway-2", replicas: other })];
    expect(rollupSeries(points, query)).toMatchObject([{ replicas: [3, null, null] }]);
  });

  test("keeps what one process knows although another does not know it", () => {
    const points = [
      point({ replicas: 2, inFlight: 3, queued: 7 }),
      point({ source: "gateway-2", calls: [0, 1, 0, 0, 0] }),
    ];
    expect(rollupSeries(points, query)).toMatchObject([
      { calls: [1, null, null], replicas: [2, null, null], inFlight: [3, null, null], queued: [7, null, null] },
    ]);
  });

  test("tells functions of one name apart by their namespaces", () => {
    const functions = [hello, { ...hello, namespace: "shop" }];
    const points = [
      point({ calls: [0, 1, 0, 0, 0] }),
      point({ calls: [0, 2, 0, 0, 0], namespace: "shop" }),
      point({ calls: [0, 4, 0, 0, 0], namespace: "shop", at: from + 10_000 }),
      point({ calls: [0, 8, 0, 0, 0], at: from + 10_000 }),
    ];
    expect(rollupSeries(points, { ...query, functions }).map(({ calls }) => calls)).toEqual([
      [1, 8, null],
      [2, 4, null],
    ]);
  });

  test("leaves out scalings, and calls, of other times", () => {
    const scalings = [{ at: from, from: 1, to: 2, reason: "load", message: "12 calls are in flight" }];
    const calls = [0, 9, 0, 0, 0];
    const points = [point({ at: from - 10_000, calls, scalings }), point({ at: from + 30_000, calls, scalings })];
    expect(rollupSeries(points, query)).toMatchObject([{ calls: [null, null, null], scalings: [] }]);
    expect(rollupSeries(points, { ...query, top: 1 })).toEqual([]);
  });

  test("has a series for each function, in the order of the query, without what lies outside of it", () => {
    const points = [
      point({ ...pay, calls: [0, 1, 0, 0, 0] }),
      point({ at: from - 10_000, calls: [0, 5, 0, 0, 0] }),
      point({ at: from + 30_000, calls: [0, 5, 0, 0, 0] }),
      point({ name: "other", calls: [0, 5, 0, 0, 0] }),
    ];
    const series = rollupSeries(points, { ...query, functions: [pay, hello] });
    expect(series.map(({ name, calls }) => [name, calls])).toEqual([
      ["pay", [1, null, null]],
      ["hello", [null, null, null]],
    ]);
  });

  test("sums all functions up in one", () => {
    const points = [
      point({ calls: [0, 1, 0, 0, 0], durations: counted([10, 10, 10]), replicas: 1, inFlight: 1, queued: 2 }),
      point({ ...pay, calls: [0, 2, 0, 0, 1], durations: counted([1_000]), replicas: 3, inFlight: 2, queued: 4 }),
    ];
    const [all, ...others] = rollupSeries(points, { ...query, functions: [hello, pay], summed: true });
    expect(others).toEqual([]);
    expect(all).toMatchObject({ namespace: "", name: "", calls: [4, null, null], errors: [1, null, null] });
    expect(all).toMatchObject({ replicas: [4, null, null], inFlight: [3, null, null], queued: [6, null, null] });
    expect(all?.p50[0]).toBeCloseTo(10, -0.5);
    expect(all?.p95[0]).toBeGreaterThan(900);
  });

  test("sums up the last counts of each function, in any order of their points", () => {
    const functions = ["f1", "f2", "f3"].map((name) => ({ namespace: "functions", name }));
    const points = functions.flatMap((ref, index) => [
      point({ ...ref, at: from + 10_000, replicas: 10 ** index }),
      point({ ...ref, at: from, replicas: 5_000 }),
    ]);
    const minute: RollupQuery = { functions, step: "1m", since: from, until: from + 60_000, summed: true };
    expect(rollupSeries(points, minute)).toMatchObject([{ replicas: [111] }]);
    expect(rollupSeries(points.toReversed(), minute)).toMatchObject([{ replicas: [111] }]);
  });

  test("of functions with as many calls the first ones by name are at the top", () => {
    const functions = ["f3", "f1", "f4", "f2"].map((name) => ({ namespace: "functions", name }));
    const points = functions.map((ref) => point({ ...ref, calls: [0, ref.name === "f4" ? 2 : 1, 0, 0, 0] }));
    const top = (of: readonly RollupPoint[], order = functions) =>
      rollupSeries(of, { ...query, functions: order, top: 3 }).map(({ name }) => name);
    expect(top(points)).toEqual(["f4", "f1", "f2"]);
    expect(top(points, functions.toReversed())).toEqual(["f4", "f1", "f2"]);
  });

  test("of the functions with most calls there are the first so many", () => {
    const functions = Array.from({ length: 5 }, (_, n) => ({ namespace: "functions", name: `f${n}` }));
    const points = functions.slice(1).map((ref, n) => point({ ...ref, calls: [0, n % 3, 0, 0, 0] }));
    const top = rollupSeries(points, { ...query, functions, top: 2 });
    expect(top.map(({ name }) => name)).toEqual(["f3", "f2"]);
    expect(rollupSeries(points, { ...query, functions, top: 9 }).map(({ name }) => name)).toEqual(["f3", "f2"]);
  });

  test("has its scalings in order", () => {
    const scaling = (at: number) => ({ at, from: 1, to: 2, reason: "load", message: "12 calls are in flight" });
    const points = [
      point({ at: from + 10_000, scalings: [scaling(from + 12_000)] }),
      point({ scalings: [scaling(from)] }),
    ];
    const [series] = rollupSeries(points, query);
    expect(series?.scalings.map(({ at }) => at)).toEqual([from, from + 12_000]);
  });
});

describe("quantiles", () => {
  test("are within 10 %, or an eighth of a millisecond, of what was counted", () => {
    const durations = fc.array(fc.double({ min: 0, max: 2 ** 18, noNaN: true }), { minLength: 1, maxLength: 200 });
    fc.assert(
      fc.property(durations, fc.constantFrom(0.5, 0.95, 1), (some, q) => {
        const cells = new DurationCells();
        cells.add(counted(some));
        const exact = some.toSorted((one, other) => one - other)[Math.max(1, Math.ceil(q * some.length)) - 1] ?? 0;
        const error = Math.abs((cells.quantile(q) ?? Number.NaN) - exact);
        expect(error).toBeLessThanOrEqual(Math.max(0.1 * exact, 0.125) + 0.006);
      }),
    );
  });

  test("are not known without a duration", () => {
    expect(new DurationCells().quantile(0.5)).toBeNull();
  });

  test("what takes longer than all cells is in the last one", () => {
    expect(counted([1e9, 2 ** 18])).toEqual([durationCellCount - 1, 2]);
    const cells = new DurationCells();
    cells.add([durationCellCount + 5, 2]);
    expect(cells.sparse()).toEqual([durationCellCount - 1, 2]);
  });
});

/** Each column has its own values. */
const seriesOfAll: RollupSeries = {
  ...hello,
  calls: [20, null],
  errors: [1, null],
  p50: [2.5, null],
  p95: [30.5, null],
  coldStarts: [4, null],
  replicas: [5, null],
  inFlight: [6, null],
  queued: [null, 7],
  scalings: [],
};

test("the view of rollups is as the contract says", () => {
  const points = [
    point({ calls: [0, 3, 0, 0, 0], scalings: [{ at: from, from: 0, to: 1, reason: "wake", message: "a call came" }] }),
  ];
  const series = rollupSeries(points, query);
  const summed = rollupSeries(points, { ...query, summed: true });
  const view = rollupsView(query, summed, series);
  expect([...Value.Errors(Rollups, view)]).toEqual([]);
  expect(Value.Clean(Rollups, structuredClone(view))).toEqual(view);
  expect(view).toMatchObject({
    step: "10s",
    from: "2026-01-31T12:00:00.000Z",
    series: [{ calls: [3, null, null], scalings: [{ at: "2026-01-31T12:00:00.000Z", to: 1 }] }],
    top: [{ functionName: "hello", namespace: "functions" }],
  });
  expect(view.series[0]).not.toHaveProperty("functionName");
  const { name, namespace, scalings: _, ...columns } = seriesOfAll;
  expect(rollupsView(query, [seriesOfAll]).series).toEqual([
    { ...columns, functionName: name, namespace, scalings: [] },
  ]);
  expect(rollupsView(query, series)).not.toHaveProperty("top");
});

test("the steps of the contract are those that are stored", () => {
  expect(rollupStepNames).toEqual(Object.keys(rollupSteps));
});
