import { expect, test } from "vitest";

import { DeadlineSweep } from "../../../runtime/gateway/invocation/deadline-sweep.ts";
import { durationBounds, InvocationCounts } from "../../../runtime/gateway/invocation/invocation-counts.ts";

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
    hello.begin();
    hello.finish(status, duration);
  }
  hello.begin();

  expect([...hello.byStatus()]).toEqual([
    [200, 3],
    [404, 1],
    [504, 1],
  ]);
  expect(hello).toMatchObject({ inFlight: 1, finished: 5 });
  expect([...hello.durations]).toEqual(durationBounds.map((bound) => ({ 1: 2, 2: 1, 4: 1 })[bound] ?? 0).concat(1));
  expect(counts.of("hello.functions")).toBe(hello);
  expect([counts.finished("hello.functions"), counts.finished("other.functions")]).toEqual([5, 0]);
});

test("DeadlineSweep removes in any order and touches nobody twice", () => {
  const sweep = new DeadlineSweep(1_000_000);
  const entries = Array.from({ length: 5 }, () => ({
    deadline: 1,
    slot: -1,
    expire: () => {},
    isLost: () => false,
    lose: () => {},
  }));
  for (const entry of entries) sweep.add(entry);
  for (const index of [2, 4, 4, 0]) {
    const entry = entries[index];
    if (entry !== undefined) sweep.remove(entry);
  }
  expect(sweep.size).toBe(2);
  expect(entries.map(({ slot }) => slot).toSorted((a, b) => a - b)).toEqual([-1, -1, -1, 0, 1]);
});
