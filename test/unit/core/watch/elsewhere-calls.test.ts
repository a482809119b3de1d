import { beforeEach, expect, test } from "vitest";

import type { ActivityDelta } from "../../../../runtime/core/ports/activity.ts";
import { ElsewhereCalls } from "../../../../runtime/core/watch/elsewhere-calls.ts";

let calls: ElsewhereCalls;
const key = "hello.functions";

beforeEach(() => {
  calls = new ElsewhereCalls();
});

function report(source: string, now: number, deltas: readonly Partial<ActivityDelta>[], last?: boolean): void {
  const whole = deltas.map((delta) => ({ function: key, finished: 0, inFlight: 0, ...delta }));
  calls.add({ source, number: 1, deltas: whole, ...(last === undefined ? {} : { last }) }, now);
}

test("calls that ended add up, and those in flight are of the last report of each process", () => {
  report("a", 0, [{ finished: 3, failed: 1, inFlight: 2 }]);
  report("b", 0, [{ finished: 1, inFlight: 4 }]);
  expect(calls.find(key)).toEqual({ finished: 4, failed: 1, inFlight: 6 });
  report("a", 1_000, [{ finished: 2, failed: 2, inFlight: 1 }]);
  expect(calls.find(key)).toEqual({ finished: 6, failed: 3, inFlight: 5 });
  // What is not in a report is not in flight.
  report("a", 2_000, []);
  expect(calls.find(key)).toEqual({ finished: 6, failed: 3, inFlight: 4 });
});

test("calls of a process that ends, or is silent, are not in flight any more", () => {
  report("a", 0, [{ finished: 1, inFlight: 2 }]);
  report("b", 3_000, [{ inFlight: 4 }]);
  calls.dropSilent(3_500);
  expect(calls.find(key)?.inFlight).toBe(6);
  calls.dropSilent(3_501);
  expect(calls.find(key)).toEqual({ finished: 1, failed: 0, inFlight: 4 });
  report("b", 4_000, [{ finished: 4, inFlight: 1 }], true);
  expect(calls.find(key)).toEqual({ finished: 5, failed: 0, inFlight: 0 });
});

test("a function that is gone is forgotten, and a later report of it is no negative count", () => {
  report("a", 0, [{ finished: 3, inFlight: 2 }]);
  calls.forget(key);
  expect(calls.find(key)).toBeUndefined();
  report("a", 1_000, [{ finished: 1, inFlight: 1 }]);
  expect(calls.find(key)).toEqual({ finished: 1, failed: 0, inFlight: 1 });
});

test("calls in flight of a function that is gone are not taken from another one of its name", () => {
  report("a", 0, [{ finished: 0, inFlight: 1 }]);
  report("b", 0, [{ finished: 0, inFlight: 2 }]);
  calls.forget(key);
  report("a", 1_000, [{ finished: 1, inFlight: 1 }]);
  report("b", 1_000, [{ finished: 2, inFlight: 3 }]);
  expect(calls.find(key)?.inFlight).toBe(4);
});

test("calls of a silent process are taken off once, however often one looks", () => {
  report("a", 0, [{ inFlight: 2 }]);
  report("b", 0, [{ inFlight: 4 }]);
  report("b", 9_000, [{ inFlight: 4 }]);
  for (const now of [10_000, 11_000, 12_000]) calls.dropSilent(now);
  expect(calls.find(key)?.inFlight).toBe(4);
});
