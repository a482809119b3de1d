import fc from "fast-check";
import { expect, test } from "vitest";

import { decideIdle, type IdleFacts } from "../../../runtime/core/decide-idle.ts";

const idle: IdleFacts = {
  rules: { zero: true },
  idleAfter: 120_000,
  ready: 1,
  raisedAt: 0,
  readyAt: 100,
  inFlight: 0,
  lastCallAt: undefined,
  hearing: { kind: "complete", since: 0 },
  queued: 0,
  wakeTimeout: 60_000,
  now: 200_000,
};
const becauseOf = (over: Partial<IdleFacts>): string => {
  const decision = decideIdle({ ...idle, ...over });
  expect(decision.message).not.toBe("");
  return decision.kind === "sleep" ? "sleep" : decision.because;
};

test.each<[string, Partial<IdleFacts>]>([
  ["sleep", {}],
  ["sleep", { lastCallAt: 80_000 }],
  ["not-labelled", { rules: { zero: false } }],
  ["recently-used", { lastCallAt: 80_001 }],
  ["recently-used", { raisedAt: 80_001 }],
  ["recently-used", { readyAt: 80_001 }],
  ["recently-used", { hearing: { kind: "complete", since: 80_001 } }],
  ["busy", { inFlight: 1 }],
  ["queued", { queued: 1 }],
  ["queue-unknown", { queued: undefined }],
  ["unheard", { hearing: { kind: "missing", message: "no gateway reports" } }],
  ["waking", { ready: 0, readyAt: undefined, raisedAt: 140_001, idleAfter: 10_000 }],
  // A function that does not start is not kept for ever: its callers were told.
  ["sleep", { ready: 0, readyAt: undefined, raisedAt: 20_000 }],
])("%s: %o", (because, over) => {
  expect(becauseOf(over)).toBe(because);
});

test("no combination of facts lets a function sleep that something speaks for", () => {
  const time = fc.nat(300_000);
  const facts = fc.record<IdleFacts>({
    rules: fc.record({ zero: fc.boolean() }),
    idleAfter: fc.integer({ min: 300, max: 200_000 }),
    ready: fc.nat(2),
    raisedAt: time,
    readyAt: fc.option(time, { nil: undefined }),
    inFlight: fc.nat(2),
    lastCallAt: fc.option(time, { nil: undefined }),
    hearing: fc.oneof(
      time.map((since) => ({ kind: "complete", since }) as const),
      fc.constant({ kind: "missing", message: "x" } as const),
    ),
    queued: fc.option(fc.nat(1), { nil: undefined }),
    wakeTimeout: fc.nat(100_000),
    now: fc.constant(300_000),
  });
  fc.assert(
    fc.property(facts, (given) => {
      if (decideIdle(given).kind !== "sleep") return;
      const { now, idleAfter } = given;
      expect(given).toMatchObject({ rules: { zero: true }, inFlight: 0, queued: 0, hearing: { kind: "complete" } });
      for (const at of [given.raisedAt, given.readyAt ?? 0, given.lastCallAt ?? 0]) {
        expect(now - at).toBeGreaterThanOrEqual(idleAfter);
      }
    }),
    { numRuns: 2_000 },
  );
});
