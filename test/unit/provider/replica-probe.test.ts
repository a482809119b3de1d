import { afterEach, beforeEach, expect, test, vi } from "vitest";

import { probePlans } from "../../../runtime/provider/probe-plan.ts";
import { ReplicaProbe } from "../../../runtime/provider/replica-probe.ts";

const address = "127.0.0.1:1";
let answers = false;

beforeEach(() => {
  answers = false;
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

function probe(annotations: Record<string, string>): ReplicaProbe {
  const plans = probePlans(annotations, false);
  const prober = { probe: async () => answers };
  return new ReplicaProbe({ prober, address, plans, changed: () => {}, now: Date.now });
}

test("what has yet to listen is not unhealthy for that; what stops to listen is", async () => {
  const slow = probe({});
  await vi.advanceTimersByTimeAsync(60_000);
  expect([slow.readySince, slow.unhealthy]).toEqual([undefined, false]);

  answers = true;
  await vi.advanceTimersByTimeAsync(5_000);
  expect([slow.readySince === undefined, slow.unhealthy]).toEqual([false, false]);

  answers = false;
  await vi.advanceTimersByTimeAsync(10_000);
  expect([slow.readySince, slow.unhealthy]).toEqual([undefined, true]);
  slow.close();
});

test("a health path that is named counts from the start", async () => {
  const named = probe({ "com.service.health.http.path": "/alive" });
  await vi.advanceTimersByTimeAsync(10_000);
  expect(named.unhealthy).toBe(true);
  named.close();
});
