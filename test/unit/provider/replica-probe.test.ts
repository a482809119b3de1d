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

test("a replica that does not listen yet is not unhealthy; one that stops listening is", async () => {
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

test("a named health path counts from the start", async () => {
  const named = probe({ "com.service.health.http.path": "/alive" });
  result = { kind: "responded", status: 500 };
  await vi.advanceTimersByTimeAsync(10_000);
  expect(named.unhealthy).toBe("GET /alive on port 8080 answered 500");
  named.close();
});

test("after 5 s it reports why a replica is not ready, then each new reason, and none once it is ready", async () => {
  const reasons: (string | undefined)[] = [];
  const plans = probePlans({ "com.service.ready.http.path": "/up" }, false);
  const prober = { probe: async () => result };
  const changed = (): void => void reasons.push(probed.unready);
  const probed = new ReplicaProbe({ prober, address, isFunctionPort: true, plans, now: Date.now, changed });
  await vi.advanceTimersByTimeAsync(4_900);
  expect(reasons).toEqual([]);
  await vi.advanceTimersByTimeAsync(10_000);
  expect(reasons).toEqual([nothing]);
  result = { kind: "responded", status: 404 };
  await vi.advanceTimersByTimeAsync(10_000);
  expect(reasons).toEqual([nothing, "GET /up on port 8080 answered 404"]);
  result = { kind: "passed" };
  await vi.advanceTimersByTimeAsync(2_000);
  expect(reasons.at(-1)).toBeUndefined();
  probed.close();
});
