import { afterEach, beforeEach, expect, test, vi } from "vitest";

import type { ProbeResult } from "../../../runtime/core/ports/prober.ts";
import { probePlans } from "../../../runtime/provider/probe-plan.ts";
import { ReplicaProbe } from "../../../runtime/provider/replica-probe.ts";

const address = "10.0.0.2:8080";
const nothing = "the process runs, but nothing listens on port 8080 ($PORT)";
let result: ProbeResult;

beforeEach(() => {
  result = { kind: "refused" };
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

function probe(annotations: Record<string, string>): ReplicaProbe {
  const plans = probePlans(annotations, false);
  const prober = { probe: async () => result };
  return new ReplicaProbe({ prober, address, isFunctionPort: true, plans, changed: () => {}, now: Date.now });
}

test("what has yet to listen is not unhealthy for that; what stops to listen is", async () => {
  const slow = probe({});
  await vi.advanceTimersByTimeAsync(60_000);
  expect([slow.readySince, slow.unhealthy]).toEqual([undefined, undefined]);

  result = { kind: "passed" };
  await vi.advanceTimersByTimeAsync(5_000);
  expect([slow.readySince === undefined, slow.unhealthy]).toEqual([false, undefined]);

  result = { kind: "refused" };
  await vi.advanceTimersByTimeAsync(10_000);
  expect([slow.readySince, slow.unhealthy]).toEqual([undefined, nothing]);
  slow.close();
});

test("a health path that is named counts from the start", async () => {
  const named = probe({ "com.service.health.http.path": "/alive" });
  result = { kind: "responded", status: 500 };
  await vi.advanceTimersByTimeAsync(10_000);
  expect(named.unhealthy).toBe("GET /alive on port 8080 answered 500");
  named.close();
});

test("after 5 s it says why one is not ready, each other reason too, and no more once it is", async () => {
  const told: (string | undefined)[] = [];
  const plans = probePlans({ "com.service.ready.http.path": "/up" }, false);
  const prober = { probe: async () => result };
  const changed = (): void => void told.push(probed.unready);
  const probed = new ReplicaProbe({ prober, address, isFunctionPort: true, plans, now: Date.now, changed });
  await vi.advanceTimersByTimeAsync(4_900);
  expect(told).toEqual([]);
  await vi.advanceTimersByTimeAsync(10_000);
  expect(told).toEqual([nothing]);
  result = { kind: "responded", status: 404 };
  await vi.advanceTimersByTimeAsync(10_000);
  expect(told).toEqual([nothing, "GET /up on port 8080 answered 404"]);
  result = { kind: "passed" };
  await vi.advanceTimersByTimeAsync(2_000);
  expect(told.at(-1)).toBeUndefined();
  probed.close();
});
