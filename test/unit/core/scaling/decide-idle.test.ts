import fc from "fast-check";
import { expect, test } from "vitest";

import { decideIdle, type IdleFacts } from "../../../../runtime/core/scaling/decide-idle.ts";

const idle: IdleFacts = {
  rules: { zero: true },
  idleAfter: 120_000,
  ready: 1,
  raisedAt: 0,
  readyAt: 100,
  inFlight: 0,
  lastCallAt: undefined,
  coverage: { kind: "complete", since: 0 },
  queued: 0,
  wakeTimeout: 60_000,
  now: 200_000,
};
const becauseOf = (over: Partial<IdleFacts>): string => {
  const decision = decideIdle({ ...idle, ...over });
  expect(decision.message).not.toBe("");
  return decision.kind === "sleep" ? "sleep" : decision.because;
};

test.each<[what: string, decided: string, over: Partial<IdleFacts>]>([
  ["no call since it exists", "sleep", {}],
  ["the last call exactly long enough ago", "sleep", { lastCallAt: 80_000 }],
  ["scale.zero is not set", "not-labelled", { rules: { zero: false } }],
  ["the last call a moment too late", "recently-used", { lastCallAt: 80_001 }],
  ["raised a moment too late", "recently-used", { raisedAt: 80_001 }],
  ["ready a moment too late", "recently-used", { readyAt: 80_001 }],
  ["complete reports a moment too late", "recently-used", { coverage: { kind: "complete", since: 80_001 } }],
  ["a call in flight", "busy", { inFlight: 1 }],
  ["a call queued", "queued", { queued: 1 }],
  ["a queue that is not known", "queue-unknown", { queued: undefined }],
  ["a gateway that is missing", "reports-missing", { coverage: { kind: "missing", message: "no gateway reports" } }],
  [
    "it was woken, and callers still wait",
    "waking",
    { ready: 0, readyAt: undefined, raisedAt: 140_001, idleAfter: 10_000 },
  ],
  // Its callers got an error.
  ["it was woken, and never got ready", "sleep", { ready: 0, readyAt: undefined, raisedAt: 20_000 }],
])("%s: %s", (_what, decided, over) => {
  expect(becauseOf(over)).toBe(decided);
});

test("no combination of facts scales a function to zero that has a reason to run", () => {
  const time = fc.nat(300_000);
  const facts = fc.record<IdleFacts>({
    rules: fc.record({ zero: fc.constantFrom(true, true, true, false) }),
    idleAfter: fc.integer({ min: 300, max: 200_000 }),
    ready: fc.nat(2),
    raisedAt: time,
    readyAt: fc.option(time, { nil: undefined }),
    inFlight: fc.constantFrom(0, 0, 0, 1),
    lastCallAt: fc.option(time, { nil: undefined }),
    coverage: fc.oneof(
      time.map((since) => ({ kind: "complete", since }) as const),
      fc.constant({ kind: "missing", message: "x" } as const),
    ),
    queued: fc.constantFrom(0, 0, 0, 1, undefined),
    wakeTimeout: fc.nat(100_000),
    now: fc.constant(300_000),
  });
  let slept = 0;
  fc.assert(
    fc.property(facts, (given) => {
      if (decideIdle(given).kind !== "sleep") return;
      slept += 1;
      const { now, idleAfter, coverage } = given;
      expect(given).toMatchObject({ rules: { zero: true }, inFlight: 0, queued: 0, coverage: { kind: "complete" } });
      const completeSince = coverage.kind === "complete" ? coverage.since : now;
      for (const at of [given.raisedAt, given.readyAt ?? 0, given.lastCallAt ?? 0, completeSince]) {
        expect(now - at).toBeGreaterThanOrEqual(idleAfter);
      }
    }),
    { numRuns: 2_000 },
  );
  expect(slept).toBeGreaterThan(0);
});

test.each<[sentence: string, over: Partial<IdleFacts>]>([
  ["No call for 2m", {}],
  ["scale.zero is not set", { rules: { zero: false } }],
  ["1 call is under way", { inFlight: 1 }],
  ["2 calls are under way", { inFlight: 2 }],
  ["1 call is queued", { queued: 1 }],
  ["3 calls are queued", { queued: 3 }],
  ["the queue cannot be read", { queued: undefined }],
  ["no gateway reports", { coverage: { kind: "missing", message: "no gateway reports" } }],
  ["it is waking and has no ready replica yet", { ready: 0, readyAt: undefined, raisedAt: 199_000 }],
  ["idle for less than 2m", { lastCallAt: 199_000 }],
])("the message says what decided: %s", (sentence, over) => {
  expect(decideIdle({ ...idle, ...over }).message).toBe(sentence);
});

test("waking ends with the first ready replica, or when no caller waits any more", () => {
  const woken = { ready: 0, readyAt: undefined, raisedAt: 140_000, idleAfter: 10_000 };
  expect(becauseOf(woken)).toBe("sleep");
  expect(becauseOf({ ...woken, raisedAt: 140_001 })).toBe("waking");
  expect(becauseOf({ ...woken, raisedAt: 140_001, ready: 1 })).toBe("sleep");
  expect(becauseOf({ ...woken, raisedAt: 140_001, readyAt: 150_000 })).toBe("sleep");
});
