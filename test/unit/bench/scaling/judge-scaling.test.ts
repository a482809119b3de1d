import { describe, expect, test } from "vitest";

import { scaleRules } from "../../../../runtime/core/scaling/scale-rules.ts";
import { judgeScaling } from "../../../../bench/scaling/judge-scaling.ts";
import { dueTimes, sleep, spike, type LoadShape } from "../../../../bench/scaling/load-shape.ts";
import type { LoadCall, ScalingRun } from "../../../../bench/scaling/scaling-run.ts";

const pace = { period: 500, window: 2_000 };
const seconds = 40;

/** A run with 9 calls a second per replica, given the desired replicas at each second; a call takes 100 ms. */
function runOf(
  shape: LoadShape,
  desired: (at: number) => number,
  rest: { readonly labels?: Record<string, string>; readonly ready?: (at: number) => number } = {},
): ScalingRun {
  const labels = { target: "10", max: "5", ...rest.labels };
  const named = Object.entries(labels).map(([key, value]) => [`com.service.scale.${key}`, value]);
  const times = Array.from({ length: seconds * 4 }, (_, index) => index * 250);
  const ready = rest.ready ?? desired;
  return {
    name: "example",
    rules: scaleRules(Object.fromEntries(named)),
    length: seconds * 1_000,
    calls: dueTimes(shape, seconds).map((due): LoadCall => ({ due, begin: due, end: due + 100, latency: 100 })),
    samples: times.map((at) => ({ at, desired: desired(at / 1_000), ready: ready(at / 1_000) })),
    cpu: [],
  };
}
const faultsOf = (run: ScalingRun): readonly string[] => judgeScaling(run, pace).faults;
const peak = spike({ low: 4, high: 32, from: 10, to: 20 });
const followed = (at: number): number => (at > 12 && at < 23 ? 4 : 1);

describe("replicas that follow the load", () => {
  test("pass, with what was seen", () => {
    const verdict = judgeScaling(runOf(peak, followed), pace);
    expect(verdict).toMatchObject({ calls: 440, failedCalls: 0, peak: 4, changes: 2, median: 100, faults: [] });
    expect(verdict.expectedChanges).toBeGreaterThanOrEqual(2);
  });
  test("pass when they are off by one, and fail when off by two", () => {
    expect(faultsOf(runOf(peak, (at) => (followed(at) === 4 ? 3 : 1)))).toEqual([]);
    expect(faultsOf(runOf(peak, (at) => (followed(at) === 4 ? 5 : 1)))).toEqual([]);
    expect(faultsOf(runOf(peak, (at) => (followed(at) === 4 ? 2 : 1)))).toEqual([
      "after 15.0 s 2 replicas, the rule says 4",
    ]);
    expect(faultsOf(runOf(peak, (at) => (followed(at) === 4 ? 4 : 3)))).toEqual([
      "after 3.5 s 3 replicas, the rule says 1",
    ]);
  });
  test("fail when they stay after the load has ended, unless a label keeps them", () => {
    const late = (at: number): number => (at > 12 && at < 30 ? 4 : 1);
    expect(faultsOf(runOf(peak, late))).toEqual([expect.stringMatching(/4 replicas, the rule says 1$/)]);
    expect(faultsOf(runOf(peak, late, { labels: { "down.window": "10s" } }))).toEqual([]);
  });
});

test("replicas that flap fail, even when off by one only", () => {
  const steady = spike({ low: 16, high: 16, from: 0, to: 0 });
  expect(faultsOf(runOf(steady, () => 2))).toEqual([]);
  expect(faultsOf(runOf(steady, (at) => (at < 5 ? 1 : 2)))).toEqual([]);
  expect(faultsOf(runOf(steady, (at) => 2 + (Math.floor(at / 5) % 2)))).toEqual([
    "replicas turned 6 times, 0 were expected",
  ]);
  expect(faultsOf(runOf(steady, (at) => (at > 20 && at < 22 ? 1 : at > 30 && at < 32 ? 1 : 2)))).toEqual([
    "replicas turned 3 times, 0 were expected",
  ]);
});

test("one failed call is enough to fail, and so are missing samples", () => {
  const run = runOf(peak, followed);
  const failed = run.calls.map((call, index) => (index === 7 ? { ...call, failure: "502 gone" } : call));
  expect(faultsOf({ ...run, calls: failed })).toEqual(["1 calls failed: 502 gone"]);
  expect(faultsOf({ ...run, calls: [] })).toContain("nothing was seen");
});

test("desired replicas that do not become ready fail", () => {
  expect(faultsOf(runOf(peak, followed, { ready: () => 1 }))).toEqual([expect.stringMatching(/only 1 were ready$/)]);
  expect(faultsOf(runOf(peak, followed, { ready: (at) => followed(at - 3) }))).toEqual([]);
});

describe("a function that may be scaled to zero", () => {
  const quiet = sleep({ rate: 8, from: 5, to: 30 });
  const labels = { zero: "true", "zero-duration": "10s" };
  test("passes when it goes to zero after its idle time and wakes with a call", () => {
    expect(faultsOf(runOf(quiet, (at) => (at > 15 && at < 30.1 ? 0 : 1), { labels }))).toEqual([]);
  });
  test("fails when it goes to zero too early, never, or without the label", () => {
    const early = runOf(quiet, (at) => (at > 9 && at < 30.1 ? 0 : 1), { labels });
    expect(faultsOf(early)).toEqual([expect.stringMatching(/it slept though it was called$/)]);
    expect(faultsOf(runOf(quiet, () => 1, { labels }))).toContainEqual(expect.stringMatching(/awake for nothing$/));
    expect(faultsOf(runOf(quiet, (at) => (at > 15 && at < 30.1 ? 0 : 1)))).toContainEqual(
      expect.stringMatching(/it slept though it was called$/),
    );
  });
});

describe("load is measured in the unit of its type", () => {
  const level = spike({ low: 20, high: 20, from: 0, to: 0 });
  test("calls in flight: 20 calls a second of 100 ms are 2", () => {
    const labels = { type: "capacity", target: "0.5", "target-proportion": "1" };
    expect(faultsOf(runOf(level, (at) => (at < 1 ? 1 : 4), { labels }))).toEqual([]);
    expect(faultsOf(runOf(level, () => 1, { labels }))).not.toEqual([]);
  });
  test("calls that a stall held up and that came together count as one report may show them", () => {
    const surged = (replicas: number) => (at: number) => (at > 12.5 && at < 16 ? replicas : 2);
    const stalled = (call: LoadCall): LoadCall =>
      call.due > 11_500 && call.due < 12_000 ? { ...call, begin: 12_000, end: 12_600 } : call;
    for (const [type, target] of [
      ["rps", "10"],
      ["capacity", "1"],
    ] as const) {
      const labels = { type, target, "target-proportion": "1", max: "9" };
      const run = runOf(level, surged(4), { labels });
      expect(faultsOf(run), type).toEqual([expect.stringMatching(/ 4 replicas, the rule says 2$/)]);
      expect(faultsOf({ ...run, calls: run.calls.map(stalled) }), type).toEqual([]);
      const more = runOf(level, surged(12), { labels });
      expect(faultsOf({ ...more, calls: more.calls.map(stalled) }), type).not.toEqual([]);
    }
  });
  test("queued calls: as many as are there at a moment", () => {
    const labels = { type: "queue", target: "0.5", "target-proportion": "1" };
    expect(faultsOf(runOf(level, (at) => (at < 1 ? 1 : 4), { labels }))).toEqual([]);
    expect(faultsOf(runOf(level, () => 1, { labels }))).not.toEqual([]);
  });
  test("processor time: what was measured", () => {
    const labels = { type: "cpu", target: "100", "target-proportion": "1" };
    const run = (desired: number): ScalingRun => ({
      ...runOf(level, (at) => (at < 1 ? 1 : desired), { labels }),
      cpu: [{ from: 0, to: seconds * 1_000, cpu: 390 }],
    });
    expect(faultsOf(run(4))).toEqual([]);
    expect(faultsOf(run(1))).not.toEqual([]);
  });
});
