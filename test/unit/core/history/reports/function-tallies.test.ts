import fc from "fast-check";
import { describe, expect, test } from "vitest";

import { durationCellCount } from "../../../../../runtime/core/history/rollups/duration-cells.ts";
import { durationCell } from "../../../../../runtime/core/history/reports/duration-cell.ts";
import { FunctionTallies } from "../../../../../runtime/core/history/reports/function-tallies.ts";

const key = "pay.functions";
const zeros = [0, 0, 0, 0, 0];

describe("durationCell()", () => {
  test.each([
    [-1, 0],
    [0, 0],
    [0.25, 0],
    [0.26, 1],
    [1, 3],
    [1.1, 4],
    // A cell includes its upper bound.
    [2 ** 0.25, 4],
    [2 ** 0.5, 5],
    [2 ** 0.75, 6],
    [2, 7],
    [2.1, 8],
    [3, 10],
    [2 ** 17, 71],
    [2 ** 17 + 1, 72],
    [2 ** 18 - 1, 75],
    [2 ** 18, 75],
    [2 ** 32 + 1, 75],
    [Infinity, 75],
  ])("%d ms is in cell %d", (duration, cell) => {
    expect(durationCell(duration)).toBe(cell);
  });

  test("longer durations are in no earlier cell, and all cells are in use", () => {
    const cells = Array.from({ length: 2_000 }, (_, step) => durationCell(0.1 * 1.01 ** step));
    expect(cells).toEqual(cells.toSorted((one, other) => one - other));
    expect(new Set(cells).size).toBe(durationCellCount);
  });
});

describe("FunctionTallies", () => {
  test("tells what was counted since the last time, by class and by cell", () => {
    const tallies = new FunctionTallies();
    const tally = tallies.of(key);
    for (const [status, duration] of [
      [200, 0.2],
      [201, 1.1],
      [101, 3],
      [404, 0.2],
    ] as const)
      tally.add(status, duration, false);
    tally.add(502, 400_000, true);
    expect(tallies.take(key, { inFlight: 0, replicas: 2 })).toStrictEqual({
      calls: [1, 2, 0, 1, 1],
      coldStarts: 1,
      durations: [0, 2, 4, 1, 10, 1, 75, 1],
      inFlight: 0,
      replicas: 2,
    });
    tally.add(200, 0.2, false);
    expect(tallies.take(key, { inFlight: 0, replicas: 2 })).toStrictEqual({
      calls: [0, 1, 0, 0, 0],
      coldStarts: 0,
      durations: [0, 1],
      inFlight: 0,
      replicas: 2,
    });
  });

  test("tells nothing of a function of which nothing changed, but what is in flight", () => {
    const tallies = new FunctionTallies();
    expect(tallies.take(key, { inFlight: 0, replicas: 0, queued: 0 })).toBeUndefined();
    tallies.of(key).add(200, 5, false);
    expect(tallies.take(key, { inFlight: 0 })).toBeDefined();
    expect(tallies.take(key, { inFlight: 0 })).toBeUndefined();
    for (let time = 0; time < 2; time += 1)
      expect(tallies.take(key, { inFlight: 1 })).toStrictEqual({ calls: zeros, coldStarts: 0, inFlight: 1 });
    tallies.of(key).add(200, 5, false);
    expect(tallies.take(key, { inFlight: 0 })).toMatchObject({ calls: [0, 1, 0, 0, 0], inFlight: 0 });
  });

  test("tells changes of replicas and of the queue, of which 0 is known, too", () => {
    const tallies = new FunctionTallies();
    const inFlight = 0;
    expect(tallies.take(key, { inFlight, replicas: 3 })).toStrictEqual({
      calls: zeros,
      coldStarts: 0,
      inFlight,
      replicas: 3,
    });
    expect(tallies.take(key, { inFlight, replicas: 3 })).toBeUndefined();
    expect(tallies.take(key, { inFlight, replicas: 0 })).toMatchObject({ replicas: 0 });
    expect(tallies.take(key, { queued: 4 })).toStrictEqual({ queued: 4 });
    // Not known is no change.
    expect(tallies.take(key, {})).toBeUndefined();
    expect(tallies.take(key, { queued: 4 })).toBeUndefined();
    expect(tallies.take(key, { queued: 0 })).toStrictEqual({ queued: 0 });
  });

  test("begins at 0 after a function was removed; its calls in flight count for nobody", () => {
    const tallies = new FunctionTallies();
    const before = tallies.of(key);
    before.add(500, 20, true);
    tallies.take(key, { inFlight: 0, replicas: 5 });
    before.add(500, 20, true);
    tallies.forget(key);
    tallies.forget(key);
    const [first, second] = [tallies.of(key), tallies.of("other.functions")];
    before.add(500, 20, true);
    first.add(200, 1, false);
    second.add(404, 1, false);
    expect(tallies.take(key, { inFlight: 0, replicas: 0 })).toStrictEqual({
      calls: [0, 1, 0, 0, 0],
      coldStarts: 0,
      durations: [3, 1],
      inFlight: 0,
      replicas: 0,
    });
    expect(tallies.take("other.functions", { inFlight: 0 })).toMatchObject({ calls: [0, 0, 0, 1, 0] });
  });

  test("tells of the first call of a function while it is in flight", () => {
    const told = { calls: zeros, coldStarts: 0, inFlight: 1 };
    expect(new FunctionTallies().take(key, { inFlight: 1 })).toStrictEqual(told);
  });

  test("does not forget a queue that is not known for a time", () => {
    const tallies = new FunctionTallies();
    expect(tallies.take(key, { queued: 4 })).toStrictEqual({ queued: 4 });
    expect(tallies.take(key, { inFlight: 1 })).toMatchObject({ inFlight: 1 });
    expect(tallies.take(key, { inFlight: 0, queued: 4 })).toBeUndefined();
  });

  test("a function in the place of one that was removed begins at 0, and its neighbours keep what they have", () => {
    const tallies = new FunctionTallies();
    for (const name of ["first.functions", key, "last.functions"]) tallies.of(name).add(200, 5, true);
    tallies.forget(key);
    tallies.of("new.functions").add(404, 1, false);
    const told = ["first.functions", "new.functions", "last.functions"].map(
      (name) => tallies.take(name, { inFlight: 0 })?.calls,
    );
    expect(told).toEqual([
      [0, 1, 0, 0, 0],
      [0, 0, 0, 1, 0],
      [0, 1, 0, 0, 0],
    ]);
    expect(tallies.take(key, { inFlight: 0 })).toBeUndefined();
  });

  test("adds up to what was counted, however calls, reports and removals of many functions follow each other", () => {
    const name = fc.integer({ min: 0, max: 600 });
    const call = fc.record({
      kind: fc.constant("call" as const),
      name,
      status: fc.integer({ min: 100, max: 599 }),
      duration: fc.double({ min: 0, max: 300_000, noNaN: true }),
      isCold: fc.boolean(),
    });
    const other = fc.record({ kind: fc.constantFrom("report" as const, "removal" as const), name });
    fc.assert(
      fc.property(fc.array(fc.oneof({ weight: 5, arbitrary: call }, other), { maxLength: 600 }), (steps) => {
        const tallies = new FunctionTallies();
        const counted = new Map<number, number[]>();
        const reported = new Map<number, number[]>();
        const add = (sums: Map<number, number[]>, one: number, index: number, more: number): void => {
          const sum = sums.get(one) ?? Array.from({ length: durationCellCount + 6 }, () => 0);
          sum[index] = (sum[index] ?? 0) + more;
          sums.set(one, sum);
        };
        const report = (one: number): void => {
          const {
            calls = [],
            durations = [],
            coldStarts = 0,
          } = tallies.take(`f${one}.functions`, { inFlight: 0 }) ?? {};
          if (calls.length === 0) return;
          for (const [index, more] of calls.entries()) add(reported, one, durationCellCount + index, more);
          for (let at = 0; at < durations.length; at += 2)
            add(reported, one, durations[at] ?? 0, durations[at + 1] ?? 0);
          add(reported, one, durationCellCount + 5, coldStarts);
        };
        for (const step of steps) {
          if (step.kind !== "call") {
            report(step.name);
            if (step.kind === "removal") tallies.forget(`f${step.name}.functions`);
          } else {
            tallies.of(`f${step.name}.functions`).add(step.status, step.duration, step.isCold);
            add(counted, step.name, durationCell(step.duration), 1);
            add(counted, step.name, durationCellCount + Math.floor(step.status / 100) - 1, 1);
            add(counted, step.name, durationCellCount + 5, step.isCold ? 1 : 0);
          }
        }
        for (const one of counted.keys()) report(one);
        expect(reported).toEqual(counted);
      }),
      { numRuns: 50 },
    );
  });
});
