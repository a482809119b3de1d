import fc from "fast-check";
import { expect, test } from "vitest";

import { replicasForLoad } from "../../../../runtime/core/scaling/decide-replicas.ts";
import { decideScale, type ScaleDecision, type ScaleFacts } from "../../../../runtime/core/scaling/decide-scale.ts";
import { DesiredHistory } from "../../../../runtime/core/scaling/desired-history.ts";
import { labelKey } from "../../../../runtime/api/schemas/key-rules.ts";
import { scaleRules, type ScaleRules } from "../../../../runtime/core/scaling/scale-rules.ts";

const now = 1_000_000;
const rules = scaleRules({ "com.service.scale.max": "10" });
const facts = (over: Partial<ScaleFacts> = {}): ScaleFacts => ({
  rules,
  replicas: 2,
  load: { value: 60, since: 0 },
  window: 10_000,
  external: undefined,
  hold: undefined,
  history: new DesiredHistory(),
  idleAfter: 120_000,
  ready: 2,
  changedAt: 0,
  raisedAt: 0,
  readyAt: 0,
  inFlight: 0,
  lastCallAt: now,
  coverage: { kind: "complete", since: 0 },
  queued: 0,
  wakeTimeout: 60_000,
  now,
  ...over,
});
const shown = (decision: ScaleDecision): string => {
  expect(decision.message).not.toBe("");
  if (decision.action === "scale") return `${decision.because} ${decision.replicas}`;
  return decision.awake === undefined ? decision.because : `${decision.because}, not to zero as ${decision.awake}`;
};
const missing = { kind: "missing", message: "gateway-1 has not reported for 7 s" } as const;

const hold = { by: "scale-function", until: "2026-01-01T00:05:00.000Z" } as const;
const idleAtZero = { rules: { ...rules, zero: true }, lastCallAt: 0 } as const;

/** Two replicas can take 90 calls per second, and a surge of 135. */
test.each<[what: string, decided: string, over: Partial<ScaleFacts>]>([
  ["load within the capacity of the replicas", "steady", {}],
  ["load above it, with an external autoscaler", "external", { external: "keda", load: { value: 500, since: 0 } }],
  ["fewer than scale.min, with an external autoscaler", "external", { external: "keda", replicas: 0 }],
  ["no calls, with an external autoscaler", "external", { ...idleAtZero, external: "keda" }],
  ["load a little above it", "load-rose 3", { load: { value: 90.1, since: 0 } }],
  ["load above the capacity of scale.max", "load-rose 10", { load: { value: 10_000, since: 0 } }],
  ["load of exactly the capacity of the replicas", "steady", { load: { value: 90, since: 0 } }],
  ["a peak that is not yet a surge", "steady", { load: { value: 60, recent: 134, since: 0 } }],
  [
    "a smaller peak soon after the replicas were raised",
    "load-rose 3",
    { load: { value: 60, recent: 110, since: 0 }, raisedAt: now - 5_000 },
  ],
  [
    "noise soon after the replicas were raised",
    "steady",
    { load: { value: 60, recent: 98, since: 0 }, raisedAt: now - 5_000 },
  ],
  ["a surge", "load-rose 6", { load: { value: 60, recent: 250, since: 0 } }],
  ["load that rose and falls again", "load-rose 3", { load: { value: 100, recent: 80, since: 0 } }],
  ["load that one replica can just take", "steady", { load: { value: 41, since: 0 } }],
  ["load that one replica can take with a tenth to spare", "load-fell 1", { load: { value: 40, since: 0 } }],
  ["no load", "load-fell 1", { load: { value: 0, since: 0 } }],
  ["no load, and a gateway is missing", "reports-missing", { load: { value: 0, since: 0 }, coverage: missing }],
  [
    "no load, and reports were not complete for a window",
    "window-incomplete",
    { load: { value: 0, since: 0 }, coverage: { kind: "complete", since: now - 9_999 } },
  ],
  ["no load, seen for less than a window", "window-incomplete", { load: { value: 0, since: now - 9_999 } }],
  ["no load, less than a window after a change", "cooldown", { load: { value: 0, since: 0 }, changedAt: now - 9_999 }],
  [
    "no load, within scale.down.window",
    "down-window",
    { load: { value: 0, since: 0 }, rules: { ...rules, downWindow: 60_000 } },
  ],
  ["load that is not known", "load-unknown", { load: undefined }],
  [
    "more load, whatever is missing",
    "load-rose 3",
    { load: { value: 90.1, since: now }, coverage: missing, changedAt: now },
  ],
  ["fewer replicas than scale.min", "below-min 3", { rules: { ...rules, min: 3 }, load: undefined, coverage: missing }],
  ["more replicas than scale.max", "above-max 1", { rules: { ...rules, max: 1 }, load: undefined, coverage: missing }],
  ["scale.min that is scale.max", "fixed", { rules: { ...rules, min: 2, max: 2 }, load: { value: 1_000, since: 0 } }],
  [
    "load of a function at zero",
    "scaled-to-zero",
    { replicas: 0, rules: { ...rules, min: 2 }, load: { value: 1_000, since: 0 } },
  ],
  ["no call for long where scale.zero is set", "idle 0", idleAtZero],
  [
    "no call for long where scale.min is scale.max",
    "idle 0",
    { ...idleAtZero, rules: { ...idleAtZero.rules, min: 2, max: 2 } },
  ],
  [
    "no call for long, and a gateway is missing",
    "steady, not to zero as reports-missing",
    { ...idleAtZero, coverage: missing },
  ],
  ["load above the capacity of a count on hold", "on-hold", { load: { value: 10_000, since: 0 }, hold }],
  ["no load, and a count on hold", "on-hold", { load: { value: 0, since: 0 }, hold }],
  ["load that is not known, and a count on hold", "on-hold", { load: undefined, hold }],
  ["no call for long where scale.zero is set, and a count on hold", "on-hold", { ...idleAtZero, hold }],
  ["a count on hold below scale.min", "below-min 3", { ...idleAtZero, rules: { ...idleAtZero.rules, min: 3 }, hold }],
  ["a count on hold above scale.max", "above-max 1", { ...idleAtZero, rules: { ...idleAtZero.rules, max: 1 }, hold }],
  ["zero on hold", "scaled-to-zero", { replicas: 0, hold }],
  ["a call in flight where scale.zero is set", "steady, not to zero as busy", { ...idleAtZero, inFlight: 1 }],
])("%s: %s", (_what, decided, over) => {
  expect(shown(decideScale(facts(over)))).toBe(decided);
});

test("the message of a count on hold says how many, until when and by whom", () => {
  expect(decideScale(facts({ hold })).message).toBe("Held at 2 until 2026-01-01T00:05:00.000Z by scale-function");
});

test("messages give load, target and count, each type in its own unit", () => {
  const sentence = (type: ScaleRules["type"]): string =>
    decideScale(facts({ rules: { ...rules, type }, load: { value: 312.25, since: 0 } })).message;
  expect(sentence("rps")).toBe("312.3 calls per second, at 45 each, need 7 replicas");
  expect(sentence("capacity")).toBe("312.3 calls in flight, at 45 each, need 7 replicas");
  expect(sentence("cpu")).toBe("312.3 thousandths of a CPU, at 45 each, need 7 replicas");
  expect(sentence("queue")).toBe("312.3 queued calls, at 45 each, need 7 replicas");
  expect(decideScale(facts({ load: { value: 500, since: 0 } })).message).toBe(
    "500 calls per second, at 45 each, need more than scale.max, 10 replicas",
  );
  expect(decideScale(facts({ load: { value: 0, since: 0 }, coverage: missing })).message).toBe(
    "0 calls per second, at 45 each, need 1 replica, but gateway-1 has not reported for 7 s",
  );
});

const someRules = fc
  .record({
    type: fc.constantFrom(...labelKey.scaleType.words),
    bounds: fc.tuple(fc.integer({ min: 1, max: 1_000 }), fc.integer({ min: 1, max: 1_000 })),
    target: fc.double({ min: 0.1, max: 1_000, noNaN: true }),
    targetProportion: fc.double({ min: 0.05, max: 1, noNaN: true }),
    downWindow: fc.constantFrom(0, 60_000),
  })
  .map(({ bounds, ...rest }) => ({ ...rules, ...rest, min: Math.min(...bounds), max: Math.max(...bounds) }));

test("the count for a load follows the rule, within bounds, with at most one more before any is removed", () => {
  fc.assert(
    fc.property(someRules, fc.double({ min: 0, max: 1e6, noNaN: true }), (given, load) => {
      const { up, down } = replicasForLoad(load, given);
      const exact = load / (given.target * given.targetProportion);
      const rule = Math.min(Math.max(Math.ceil(exact - 1e-6 * exact), given.min), given.max);
      expect(Math.abs(up - rule)).toBeLessThanOrEqual(1);
      expect(down).toBeGreaterThanOrEqual(up);
      expect(down).toBeLessThanOrEqual(up + 1);
      for (const count of [up, down]) {
        expect(count).toBeGreaterThanOrEqual(given.min);
        expect(count).toBeLessThanOrEqual(given.max);
        expect(Number.isInteger(count)).toBe(true);
      }
    }),
    { numRuns: 2_000 },
  );
});

test("for any facts counts stay within bounds, and fall only after a whole window of complete reports", () => {
  const some = fc.record({
    rules: someRules,
    zero: fc.boolean(),
    replicas: fc.nat(1_000),
    value: fc.double({ min: 0, max: 1e5, noNaN: true }),
    since: fc.nat(now),
    changedAt: fc.nat(now),
    completeSince: fc.option(fc.nat(now), { nil: undefined }),
    lastCallAt: fc.nat(now),
    inFlight: fc.nat(1),
    queued: fc.option(fc.nat(1), { nil: undefined }),
  });
  fc.assert(
    fc.property(some, ({ rules: given, zero, completeSince, value, since, ...rest }) => {
      const coverage = completeSince === undefined ? missing : ({ kind: "complete", since: completeSince } as const);
      const all = facts({ ...rest, rules: { ...given, zero }, load: { value, since }, coverage });
      const decision = decideScale(all);
      if (decision.action === "keep") return;
      expect(decision.replicas).not.toBe(all.replicas);
      if (decision.replicas === 0) {
        expect([zero, all.inFlight, all.queued, completeSince === undefined]).toEqual([true, 0, 0, false]);
        return;
      }
      expect(decision.replicas).toBeGreaterThanOrEqual(given.min);
      expect(decision.replicas).toBeLessThanOrEqual(given.max);
      expect(all.replicas).toBeGreaterThan(0);
      if (decision.because === "load-fell") {
        expect(coverage.kind).toBe("complete");
        expect(now - Math.max(since, completeSince ?? now, all.changedAt)).toBeGreaterThanOrEqual(all.window);
      }
    }),
    { numRuns: 3_000 },
  );
});

test("scale.down.window keeps the highest count that was desired within it", () => {
  const history = new DesiredHistory();
  const given = { ...rules, downWindow: 60_000 };
  const at = (moment: number, value: number, replicas: number): string =>
    shown(decideScale(facts({ rules: given, history, load: { value, since: 0 }, replicas, now: now + moment })));
  expect(at(0, 400, 10)).toBe("steady");
  expect(at(30_000, 130, 10)).toBe("down-window");
  expect(at(60_000, 0, 10)).toBe("down-window");
  expect(at(60_001, 0, 10)).toBe("load-fell 4");
  expect(at(90_001, 0, 4)).toBe("load-fell 1");
});

test.each<[what: string, decided: string, over: Partial<ScaleFacts>]>([
  ["a load that is exactly a surge", "load-rose 3", { load: { value: 60, recent: 135, since: 0 } }],
  ["load that is past its peak, and still too much", "load-rose 7", { load: { value: 300, recent: 250, since: 0 } }],
  ["a smaller peak a window after", "steady", { load: { value: 60, recent: 110, since: 0 }, raisedAt: now - 10_000 }],
  ["no load, seen for exactly a window", "load-fell 1", { load: { value: 0, since: now - 10_000 } }],
  ["no load, a window after a change", "load-fell 1", { load: { value: 0, since: 0 }, changedAt: now - 10_000 }],
])("%s: %s", (_what, decided, over) => {
  expect(shown(decideScale(facts(over)))).toBe(decided);
});

test.each<[sentence: string, over: Partial<ScaleFacts>]>([
  ["Scaled to zero; a call wakes it", { replicas: 0 }],
  ["The label scale.min is 3", { rules: { ...rules, min: 3 } }],
  ["The label scale.max is 1", { rules: { ...rules, max: 1 } }],
  ["scale.min and scale.max are 2", { rules: { ...rules, min: 2, max: 2 } }],
  ["The rps load is not known", { load: undefined }],
  ["60 calls per second, at 45 each, need 2 replicas", {}],
  ["60 calls per second, at 45 each, need 2 replicas", { rules: { ...rules, max: 2 }, replicas: 1 }],
  ["90 calls per second, at 45 each, need 2 replicas", { rules: { ...rules, max: 2 }, load: { value: 90, since: 0 } }],
  [
    "91 calls per second, at 45 each, need more than scale.max, 2 replicas",
    { rules: { ...rules, max: 2 }, load: { value: 91, since: 0 } },
  ],
  [
    "0 calls per second, at 45 each, need 1 replica, but load and reports are known for less than 10s",
    { load: { value: 0, since: now } },
  ],
  [
    "0 calls per second, at 45 each, need 1 replica, but it was changed less than 10s ago",
    { load: { value: 0, since: 0 }, changedAt: now },
  ],
  [
    "0 calls per second, at 45 each, need 1 replica, but scale.down.window is 1m",
    { load: { value: 0, since: 0 }, rules: { ...rules, downWindow: 60_000 } },
  ],
])("the message says what decided: %s", (sentence, over) => {
  expect(decideScale(facts(over)).message).toBe(sentence);
});

test("a function that is not scaled to zero has a message that says why", () => {
  const decision = decideScale(facts({ ...idleAtZero, inFlight: 1 }));
  expect(decision).toMatchObject({ action: "keep", awake: "busy", awakeMessage: "1 call is under way" });
  expect(decideScale(facts())).toMatchObject({ awake: undefined, awakeMessage: undefined });
});

test.each<[what: string, over: Partial<ScaleFacts>]>([
  ["while it is at zero", { replicas: 0 }],
  ["while its load is not known", { load: undefined }],
  ["while another scaler sets its count", { external: "keda" }],
])("earlier desired counts are dropped: %s", (_what, over) => {
  const history = new DesiredHistory();
  const given = { rules: { ...rules, downWindow: 60_000 }, history };
  decideScale(facts({ ...given, now: now - 70_000 }));
  decideScale(facts({ ...given, ...over, now: now - 1_000 }));
  expect(shown(decideScale(facts({ ...given, load: { value: 0, since: 0 } })))).toBe("down-window");
});

test("a rounding error starts no replica", () => {
  const given = { target: 0.7, targetProportion: 0.7, min: 1, max: 1_000 };
  expect(1.47 / (given.target * given.targetProportion)).toBeGreaterThan(3);
  expect(replicasForLoad(1.47, given).up).toBe(3);
  expect(replicasForLoad(1.4701, given).up).toBe(4);
});

test("what another scaler sets is left alone, and the decision names it", () => {
  expect(decideScale(facts({ external: "keda" })).message).toBe(
    'Scaled by "keda", and left alone by the autoscaler of Weir',
  );
});
