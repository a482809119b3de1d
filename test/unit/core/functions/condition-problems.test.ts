import { describe, expect, test } from "vitest";

import type { Condition } from "../../../../runtime/api/schemas/function-status.ts";
import {
  functionConditions,
  isSettled,
  problemOf,
  whyNotReady,
  type ConditionFacts,
} from "../../../../runtime/core/functions/conditions.ts";

const at = "2026-01-01T00:00:00.000Z";
const settled: ConditionFacts = {
  wanted: 3,
  ready: 3,
  readyCurrent: 3,
  existing: 3,
  superseded: 0,
  backoff: undefined,
  blocked: undefined,
};
const conditionsOf = (facts: Partial<ConditionFacts>) => functionConditions({ ...settled, ...facts }, [], at);
const condition = (type: Condition["type"], status: Condition["status"], reason: string, message: string) => ({
  type,
  status,
  reason,
  message,
  lastTransitionTime: at,
});
const silent = { reason: "NotListening", message: "nothing listens on port 8080" };

describe("problemOf()", () => {
  test.each<[what: string, conditions: Condition[], problem: ReturnType<typeof problemOf>]>([
    ["no condition", [], undefined],
    ["all is well", conditionsOf({}), undefined],
    ["an attempt failed", conditionsOf({ blocked: silent }), { kind: "stalled", ...silent }],
    [
      "a starting replica does not become ready",
      conditionsOf({ ready: 0, readyCurrent: 0, progress: silent }),
      { kind: "not-ready", ...silent },
    ],
    [
      "a running replica became unhealthy",
      [condition("Healthy", "False", "Unhealthy", "GET /_/health answered 500")],
      { kind: "not-ready", reason: "Unhealthy", message: "GET /_/health answered 500" },
    ],
    [
      "an image is still pulled",
      conditionsOf({ ready: 0, readyCurrent: 0, progress: { reason: "PullingImage", message: "it is pulled" } }),
      undefined,
    ],
    ["an error that a further attempt may mend", [condition("Healthy", "False", "Error", "it ended")], undefined],
    ["it was not ready before", [condition("Reconciling", "False", "NotReady", "it was slow")], undefined],
    ["it was unhealthy before", [condition("Healthy", "True", "Unhealthy", "it was slow")], undefined],
    ["whether it is healthy is not known", [condition("Healthy", "Unknown", "NotReady", "it is slow")], undefined],
    ["another condition has such a reason", [condition("Ready", "False", "NotReady", "it is slow")], undefined],
    ["another condition that is true", [condition("Ready", "True", "NotReady", "it is slow")], undefined],
  ])("%s", (_what, conditions, problem) => expect(problemOf(conditions)).toEqual(problem));
});

test.each(["NotListening", "NotReady", "Unhealthy"])("a replica that runs and is %s is a problem", (reason) => {
  const progress = { reason, message: "it does not work" };
  expect(problemOf(conditionsOf({ ready: 0, readyCurrent: 0, progress }))).toEqual({ kind: "not-ready", ...progress });
});

test.each(["QueueNotFound", "CallbackSecretUnusable"])(
  "%s is a problem, but no reason why no replica is ready",
  (reason) => {
    const attention = { reason, message: "a person has to act" };
    const conditions = conditionsOf({ ready: 0, readyCurrent: 0, attention });
    expect(problemOf(conditions)).toEqual({ kind: "stalled", ...attention });
    expect(whyNotReady(conditions)).toBeUndefined();
  },
);

test.each<[what: string, conditions: Condition[], isIt: boolean]>([
  ["all desired replicas are ready", conditionsOf({}), true],
  ["some are missing", conditionsOf({ ready: 2, readyCurrent: 2, existing: 2 }), false],
  ["old ones are left", conditionsOf({ existing: 4, superseded: 1 }), false],
  ["nothing was reported", [], false],
])("whether a function is settled: %s", (_what, conditions, isIt) => {
  expect(isSettled(conditions)).toBe(isIt);
});

describe("whyNotReady()", () => {
  test("what anyone may read of it depends on the reason alone", () => {
    for (const reason of ["PrepareFailed", "NotListening", "ImagePullBackOff", "FromAnOrchestrator"]) {
      const [one, other] = ["a password", "another"].map((message) =>
        whyNotReady([condition("Stalled", "True", reason, message)]),
      );
      expect(String(one?.publicly)).toBe(String(other?.publicly));
      expect(one?.message).toBe("a password");
    }
  });

  test("none of many replicas is ready", () => {
    const conditions = conditionsOf({ wanted: 12, ready: 0, readyCurrent: 0, progress: silent });
    expect(whyNotReady(conditions)?.message).toBe("nothing listens on port 8080");
  });

  test("a reason of several lines is told in full, whatever the order of the conditions", () => {
    const conditions = conditionsOf({
      ready: 0,
      readyCurrent: 0,
      backoff: { failures: 1, until: 0, last: { reason: "Error", message: "it ended\nwith code 3" } },
    });
    expect(whyNotReady(conditions)?.message).toBe("it ended\nwith code 3");
    expect(whyNotReady(conditions.toReversed())?.message).toBe("it ended\nwith code 3");
    expect(String(whyNotReady(conditions)?.publicly)).toBe("its replica ended; its conditions say why");
  });

  test("one that is ready has no reason, whatever its message", () => {
    expect(
      whyNotReady([condition("Ready", "True", "ReplicasReady", "0 of 1 replicas are ready: odd")]),
    ).toBeUndefined();
    expect(whyNotReady([])).toBeUndefined();
  });
});

describe("the message of Ready", () => {
  const failing = { blocked: silent, readyCurrent: 0, superseded: 2, existing: 4 };

  test.each<[what: string, facts: Partial<ConditionFacts>, message: string]>([
    [
      "only replicas of the previous deployment serve",
      { ...failing, ready: 2 },
      "2 of 3 replicas are ready, of the previous deployment: nothing listens on port 8080",
    ],
    [
      "one of the new deployment serves as well",
      { ...failing, ready: 2, readyCurrent: 1 },
      "2 of 3 replicas are ready",
    ],
    ["nothing has failed", { ...failing, ready: 2, blocked: undefined }, "2 of 3 replicas are ready"],
    ["none serves", { ...failing, ready: 0 }, "0 of 3 replicas are ready: nothing listens on port 8080"],
  ])("%s", (_what, facts, message) => {
    expect(conditionsOf(facts).find(({ type }) => type === "Ready")?.message).toBe(message);
  });
});

test("while no replica is ready the message of Healthy says that nothing is known", () => {
  expect(conditionsOf({ ready: 0, readyCurrent: 0 }).find(({ type }) => type === "Healthy")).toMatchObject({
    status: "Unknown",
    message: "No replica is ready: whether they work is not known",
  });
});
