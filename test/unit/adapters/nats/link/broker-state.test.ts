import { afterEach, beforeEach, expect, test, vi } from "vitest";

import { BrokerState, type BrokerFaultKind } from "../../../../../runtime/adapters/nats/link/broker-state.ts";
import type { PublishOutcome } from "../../../../../runtime/adapters/nats/link/publish-outcome.ts";

const stored: PublishOutcome = { kind: "stored", sequence: 1, duplicate: false };
const silent: PublishOutcome = { kind: "unknown", cause: new Error("no answer") };
const refused = (code: number, description: string): PublishOutcome => ({
  kind: "refused",
  refusal: { code, description },
  doubt: undefined,
});
const ill = { server: "127.0.0.1", why: "JetStream stream write error" };

let trouble: BrokerState;
let heard: (BrokerFaultKind | undefined)[];
beforeEach(() => {
  vi.useFakeTimers();
  trouble = new BrokerState();
  heard = [];
  trouble.onChange((kind) => heard.push(kind));
});
afterEach(() => vi.useRealTimers());

test.each<[string, PublishOutcome, BrokerFaultKind | undefined]>([
  ["no answer", silent, "away"],
  ["nobody to ask", { kind: "not-sent", cause: new Error("no responders") }, "away"],
  ["not ready", refused(10_008, "JetStream system temporarily unavailable"), "away"],
  ["no room in the store", refused(10_023, "insufficient resources"), "full"],
  ["no room in the account's store", refused(10_047, "insufficient storage resources available"), "full"],
  ["a write that failed", refused(10_077, "write /data/1.blk: no space left on device"), "full"],
  ["a limit of one stream", refused(10_077, "maximum messages exceeded"), undefined],
  ["another's write", refused(10_071, "wrong last sequence: 3"), undefined],
])("%s", (_what, outcome, kind) => {
  trouble.onPublished(outcome);
  expect(trouble.kind).toBe(kind);
  trouble.onPublished(stored);
  expect(trouble.kind).toBeUndefined();
  expect(heard).toEqual(kind === undefined ? [] : [kind, undefined]);
});

test("is heard of once when it begins and once when it is over", () => {
  trouble.onPublished(silent);
  trouble.onPublished(silent);
  trouble.onPublished(stored);
  trouble.onPublished(stored);
  expect(heard).toEqual(["away", undefined]);
});

test("that nothing shows any more is over after 5 s, unless the connection is lost", () => {
  trouble.onPublished(silent);
  vi.advanceTimersByTime(4_999);
  expect(trouble.kind).toBe("away");
  vi.advanceTimersByTime(1);
  expect(trouble.kind).toBeUndefined();
  trouble.onConnection(false);
  trouble.onPublished(silent);
  vi.advanceTimersByTime(60_000);
  expect(trouble.kind).toBe("away");
  trouble.onConnection(true);
  expect(heard).toEqual(["away", undefined, "away", undefined]);
});

test("the broker's own word that it cannot store counts for more than the silence it leaves, until it takes that back", () => {
  trouble.onPublished(silent);
  trouble.onHealth(ill);
  trouble.onPublished(silent);
  trouble.onPublished(stored);
  vi.advanceTimersByTime(60_000);
  expect(trouble.kind).toBe("full");
  trouble.onHealth(undefined);
  trouble.onPublished(silent);
  trouble.onHealth(undefined);
  expect(heard).toEqual(["away", "full", undefined, "away"]);
});

test("a broker that is ended because it cannot store is still full, and well when it is there again", () => {
  trouble.onHealth(ill);
  trouble.onConnection(false);
  trouble.onConnection(true);
  trouble.onPublished(silent);
  expect(heard).toEqual(["full", undefined, "away"]);
});
