import { expect, test } from "vitest";

import { DeadlineSweep } from "../../../../runtime/gateway/calls/sync/deadline-sweep.ts";
import { durationBounds } from "../../../../runtime/process/metrics/duration-histogram.ts";
import { InvocationCounts } from "../../../../runtime/process/metrics/invocation-counts.ts";

test("InvocationCounts counts by status, duration and function", () => {
  const counts = new InvocationCounts();
  const hello = counts.of("hello.functions");
  for (const [status, duration] of [
    [200, 0.4],
    [200, 1],
    [200, 1.01],
    [404, 4],
    [504, 200_000],
  ] as const) {
    hello.begin(0);
    hello.finish(duration, status, duration);
  }
  hello.begin(0);

  const ended = [...counts.ended()].map(([{ function_name, code }, { count, sum }]) => [
    function_name,
    code,
    count,
    Math.round(sum),
  ]);
  expect(ended).toEqual([
    ["hello.functions", "200", 3, 2],
    ["hello.functions", "404", 1, 4],
    ["hello.functions", "504", 1, 200_000],
  ]);
  expect(hello).toMatchObject({ inFlight: 1, finished: 5 });
  const buckets = [...counts.ended()].map(([, durations]) => [...durations.buckets]);
  const only = (found: Record<number, number>, beyond = 0): number[] => [
    ...durationBounds.map((bound) => found[bound] ?? 0),
    beyond,
  ];
  expect(buckets).toEqual([only({ 1: 2, 2: 1 }), only({ 4: 1 }), only({}, 1)]);
  expect(counts.of("hello.functions")).toBe(hello);
  expect([counts.find("hello.functions"), counts.find("other.functions")]).toEqual([hello, undefined]);
  expect([counts.finished("hello.functions"), counts.finished("other.functions")]).toEqual([5, 0]);
  counts.forget("hello.functions");
  expect([...counts.ended()]).toEqual([]);
});

test("InvocationCounts tells of each ended call whoever else counts them, once per function", () => {
  const told: (readonly [key: string, status: number, duration: number, isCold: boolean])[] = [];
  let counters = 0;
  const counts = new InvocationCounts((key) => {
    counters += 1;
    return { add: (status, duration, isCold) => told.push([key, status, duration, isCold]) };
  });
  for (const key of ["a.functions", "a.functions", "b.functions"]) counts.of(key).begin(0);
  counts.of("a.functions").finish(0, 200, 3);
  counts.of("b.functions").finish(0, 503, 60_000, true);
  expect(told).toEqual([
    ["a.functions", 200, 3, false],
    ["b.functions", 503, 60_000, true],
  ]);
  expect(counters).toBe(2);
});

test("DeadlineSweep removes in any order, and handles no entry twice", () => {
  const sweep = new DeadlineSweep(1_000_000);
  const entries = Array.from({ length: 5 }, () => ({
    deadline: 1,
    slot: -1,
    expire: () => {},
    isLost: () => false,
    lose: () => {},
    cut: () => {},
  }));
  for (const entry of entries) sweep.add(entry);
  for (const index of [2, 4, 4, 0]) {
    const entry = entries[index];
    if (entry !== undefined) sweep.remove(entry);
  }
  expect(sweep.size).toBe(2);
  expect(entries.map(({ slot }) => slot).toSorted((a, b) => a - b)).toEqual([-1, -1, -1, 0, 1]);
});

test("DeadlineSweep aborts each entry in flight once, also when that removes it", () => {
  const sweep = new DeadlineSweep(1_000_000);
  const cut: number[] = [];
  const entries = [1, 2, 3].map((number) => {
    const entry = {
      deadline: 1,
      slot: -1,
      expire: () => {},
      isLost: () => false,
      lose: () => {},
      cut: () => {
        cut.push(number);
        sweep.remove(entry);
      },
    };
    return entry;
  });
  for (const entry of entries) sweep.add(entry);
  sweep.cutAll();
  expect(cut).toEqual([1, 2, 3]);
  expect(sweep.size).toBe(0);
});
