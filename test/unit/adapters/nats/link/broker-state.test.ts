import { afterEach, beforeEach, expect, test, vi } from "vitest";

import type { BrokerFaultKind } from "../../../../../runtime/api/broker/broker-fault.ts";
import { BrokerState } from "../../../../../runtime/adapters/nats/link/broker-state.ts";
import type { PublishOutcome } from "../../../../../runtime/adapters/nats/link/publish-outcome.ts";

const stored: PublishOutcome = { kind: "stored", sequence: 1, duplicate: false };
const unanswered: PublishOutcome = { kind: "unknown", cause: new Error("no answer") };
const refused = (code: number, description: string): PublishOutcome => ({
  kind: "refused",
  refusal: { code, description },
  doubt: undefined,
});
const fault = { kind: "full", server: "127.0.0.1", why: "JetStream stream write error" } as const;

let state: BrokerState;
let events: (BrokerFaultKind | undefined)[];
beforeEach(() => {
  vi.useFakeTimers();
  state = new BrokerState();
  events = [];
  state.onChange((kind) => events.push(kind));
});
afterEach(() => vi.useRealTimers());

test.each<[string, PublishOutcome, BrokerFaultKind | undefined]>([
  ["no response", unanswered, "away"],
  ["no responders", { kind: "not-sent", cause: new Error("no responders") }, "away"],
  ["not ready", refused(10_008, "JetStream system temporarily unavailable"), "away"],
  ["no room in the store", refused(10_023, "insufficient resources"), "full"],
  ["no room in the account's store", refused(10_047, "insufficient storage resources available"), "full"],
  ["a write without room", refused(10_077, "write /data/1.blk: no space left on device"), "full"],
  ["a write over a quota", refused(10_077, "write /data/1.blk: disk quota exceeded"), "full"],
  ["a write that failed", refused(10_077, "write /data/1.blk: input/output error"), "io-error"],
  ["a limit of one stream", refused(10_077, "maximum messages exceeded"), undefined],
  ["another's write", refused(10_071, "wrong last sequence: 3"), undefined],
])("%s", (_what, outcome, kind) => {
  state.onPublished(outcome);
  expect(state.kind).toBe(kind);
  state.onPublished(stored);
  expect(state.kind).toBeUndefined();
  expect(events).toEqual(kind === undefined ? [] : [kind, undefined]);
});

test("a fault is reported once when it begins and once when it is over", () => {
  state.onPublished(unanswered);
  state.onPublished(unanswered);
  state.onPublished(stored);
  state.onPublished(stored);
  expect(events).toEqual(["away", undefined]);
});

test("a fault that nothing confirms is over after 5 s, unless the connection is lost", () => {
  state.onPublished(unanswered);
  vi.advanceTimersByTime(4_999);
  expect(state.kind).toBe("away");
  vi.advanceTimersByTime(1);
  expect(state.kind).toBeUndefined();
  state.onConnection(false);
  state.onPublished(unanswered);
  vi.advanceTimersByTime(60_000);
  expect(state.kind).toBe("away");
  state.onConnection(true);
  expect(events).toEqual(["away", undefined, "away", undefined]);
});

test("a health report that the broker cannot store outranks missing responses, until it is withdrawn", () => {
  state.onPublished(unanswered);
  state.onHealth(fault);
  state.onPublished(unanswered);
  state.onPublished(stored);
  vi.advanceTimersByTime(60_000);
  expect(state.kind).toBe("full");
  state.onHealth(undefined);
  state.onPublished(unanswered);
  state.onHealth(undefined);
  expect(events).toEqual(["away", "full", undefined, "away"]);
});

test("a broker that is stopped because it cannot store is still full, and healthy when it is back", () => {
  state.onHealth(fault);
  state.onConnection(false);
  state.onConnection(true);
  state.onPublished(unanswered);
  expect(events).toEqual(["full", undefined, "away"]);
});

test("servers that keep their connections and do not store have no leader", () => {
  const cluster = new BrokerState(() => true);
  cluster.onPublished(unanswered);
  expect(cluster.kind).toBe("no-leader");
  cluster.onPublished(refused(10_008, "JetStream system temporarily unavailable"));
  expect(cluster.kind).toBe("no-leader");
  cluster.onConnection(false);
  expect(cluster.kind).toBe("away");
});

test("the monitoring is asked at the first publish without a reply, then each second until nothing is wrong", async () => {
  const faults = [fault, fault, undefined];
  let looks = 0;
  state.watch({
    wholeFault: async () => {
      looks += 1;
      return faults[looks - 1];
    },
  });
  state.onUnanswered();
  state.onUnanswered();
  await vi.advanceTimersByTimeAsync(0);
  expect([looks, state.kind, state.storesNothing]).toEqual([1, "full", true]);
  state.onPublished(unanswered);
  expect(state.kind).toBe("full");
  await vi.advanceTimersByTimeAsync(1_000);
  expect([looks, state.kind]).toEqual([2, "full"]);
  await vi.advanceTimersByTimeAsync(1_000);
  expect([looks, state.kind, state.storesNothing]).toEqual([3, undefined, false]);
  await vi.advanceTimersByTimeAsync(60_000);
  expect([looks, events]).toEqual([3, ["full", undefined]]);
});

test("what the monitoring said counts while the server is restarted", async () => {
  const faults = [fault, undefined];
  state.watch({ wholeFault: async () => faults.shift() });
  state.onUnanswered();
  await vi.advanceTimersByTimeAsync(0);
  state.onConnection(false);
  await vi.advanceTimersByTimeAsync(1_000);
  expect([state.kind, state.storesNothing]).toEqual(["full", true]);
  state.onConnection(true);
  expect([state.kind, state.storesNothing]).toEqual([undefined, false]);
});
