import { expect, test } from "vitest";

import { dueTimes, ramp, sine, sleep, spike } from "../../../../bench/scaling/load-shape.ts";

test("a ramp is linear between its points and level before and after", () => {
  const shape = ramp([2, 4], [12, 24], [16, 24], [20, 0]);
  expect([0, 2, 7, 12, 14, 18, 20, 99].map(shape)).toEqual([4, 4, 14, 24, 24, 12, 0, 0]);
});

test("a spike is high between its times, a sleep has no calls", () => {
  expect([0, 5, 9.9, 10].map(spike({ low: 4, high: 32, from: 5, to: 10 }))).toEqual([4, 32, 32, 4]);
  expect([0, 5, 9.9, 10].map(sleep({ rate: 16, from: 5, to: 10 }))).toEqual([16, 0, 0, 16]);
});

test("a sine begins low, and half a period ahead of another it is high while that is low", () => {
  const [one, two] = [0, 5].map((ahead) => sine({ low: 2, high: 10, period: 10, ahead }));
  expect([0, 2.5, 5, 10].map((at) => one?.(at))).toEqual([2, 6, 10, 2].map((rate) => expect.closeTo(rate)));
  expect([0, 2.5, 5, 10].map((at) => two?.(at))).toEqual([10, 6, 2, 10].map((rate) => expect.closeTo(rate)));
});

test("calls are due evenly, as many as the area under the shape", () => {
  const due = dueTimes(spike({ low: 0, high: 10, from: 1, to: 3 }), 5);
  expect(due).toHaveLength(20);
  expect(due[0]).toBe(1_099);
  const gaps = due.slice(1).map((at, index) => at - (due[index] ?? 0));
  expect(Math.min(...gaps)).toBeGreaterThanOrEqual(99);
  expect(Math.max(...gaps)).toBeLessThanOrEqual(101);
  expect(dueTimes(ramp([0, 0], [10, 20]), 10).length).toBeCloseTo(100, -1);
});
