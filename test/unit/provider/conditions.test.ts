import { describe, expect, test } from "vitest";

import { finalFailure, functionConditions, type ConditionFacts } from "../../../runtime/core/conditions.ts";

const settled: ConditionFacts = {
  wanted: 1,
  ready: 1,
  readyCurrent: 1,
  existing: 1,
  superseded: 0,
  backoff: undefined,
  blocked: undefined,
};
const starting = { ...settled, ready: 0, readyCurrent: 0 };
const failure = { reason: "Error", message: "The process ended with code 3" };
const at = "2026-01-01T00:00:00.000Z";
const later = "2026-01-01T00:01:00.000Z";

function shown(facts: Partial<ConditionFacts>): Record<string, string> {
  const conditions = functionConditions({ ...settled, ...facts }, [], at);
  return Object.fromEntries(conditions.map(({ type, status, reason }) => [type, `${status} ${reason}`]));
}

describe("functionConditions", () => {
  test.each<[string, Partial<ConditionFacts>, Record<string, string>]>([
    [
      "settled",
      {},
      {
        Ready: "True ReplicasReady",
        Healthy: "True NoFailure",
        Reconciling: "False Settled",
        Stalled: "False Progressing",
      },
    ],
    [
      "starting",
      starting,
      {
        Ready: "False NoReplicaReady",
        Healthy: "Unknown NothingRuns",
        Reconciling: "True Starting",
        Stalled: "False Progressing",
      },
    ],
    [
      "some ready",
      { wanted: 3, existing: 3 },
      {
        Ready: "True SomeReplicasReady",
        Healthy: "True NoFailure",
        Reconciling: "True Starting",
        Stalled: "False Progressing",
      },
    ],
    [
      "rolling",
      { existing: 2, superseded: 1, readyCurrent: 0 },
      {
        Ready: "True ReplicasReady",
        Healthy: "True NoFailure",
        Reconciling: "True Rolling",
        Stalled: "False Progressing",
      },
    ],
    [
      "at zero",
      { wanted: 0, ready: 0, readyCurrent: 0, existing: 0 },
      {
        Ready: "True ScaledToZero",
        Healthy: "Unknown NothingRuns",
        Reconciling: "False Settled",
        Stalled: "False Progressing",
      },
    ],
    [
      "going to zero",
      { wanted: 0, ready: 0, readyCurrent: 0 },
      {
        Ready: "True ScaledToZero",
        Healthy: "Unknown NothingRuns",
        Reconciling: "True Stopping",
        Stalled: "False Progressing",
      },
    ],
    [
      "crashed once",
      { ...starting, backoff: { failures: 1, until: 0, last: failure } },
      {
        Ready: "False NoReplicaReady",
        Healthy: "False Error",
        Reconciling: "True Starting",
        Stalled: "False Progressing",
      },
    ],
    [
      "crash loop",
      { ...starting, backoff: { failures: 3, until: 0, last: failure } },
      {
        Ready: "False NoReplicaReady",
        Healthy: "False CrashLoopBackOff",
        Reconciling: "True Starting",
        Stalled: "True CrashLoopBackOff",
      },
    ],
    [
      "between two attempts",
      { ...starting, existing: 0, backingOff: true, backoff: { failures: 2, until: 0, last: failure } },
      {
        Ready: "False NoReplicaReady",
        Healthy: "False CrashLoopBackOff",
        Reconciling: "True BackingOff",
        Stalled: "True CrashLoopBackOff",
      },
    ],
    [
      "secret missing",
      { ...starting, blocked: { reason: "SecretNotFound", message: "x" } },
      {
        Ready: "False NoReplicaReady",
        Healthy: "Unknown NothingRuns",
        Reconciling: "True Starting",
        Stalled: "True SecretNotFound",
      },
    ],
  ])("%s", (_, facts, expected) => expect(shown(facts)).toEqual(expected));

  test.each<[string, number, Partial<ConditionFacts>, string | undefined]>([
    ["one failure, then a pause", 1, { backingOff: true }, undefined],
    ["two, then a pause", 2, { backingOff: true }, failure.message],
    ["two, and a third attempt", 2, { backingOff: false }, undefined],
    ["two, but what is wanted is ready", 2, { backingOff: true, ready: 1, readyCurrent: 1 }, undefined],
  ])("whether a failure is final: %s", (_, failures, facts, final) => {
    const backoff = { failures, until: 0, last: failure };
    expect(finalFailure(functionConditions({ ...starting, backoff, ...facts }, [], at))).toBe(final);
  });

  test("Ready says why not", () => {
    const [ready] = functionConditions({ ...starting, backoff: { failures: 1, until: 0, last: failure } }, [], at);

    expect(ready?.message).toBe("0 of 1 replicas are ready: The process ended with code 3");
  });

  test("lastTransitionTime is that of the last change of status, whatever the message says", () => {
    const before = functionConditions(starting, [], at);
    const after = functionConditions({ ...settled, wanted: 2, existing: 2 }, before, later);

    expect(after.map(({ type, lastTransitionTime }) => [type, lastTransitionTime])).toEqual([
      ["Ready", later],
      ["Healthy", later],
      ["Reconciling", at],
      ["Stalled", at],
    ]);
  });
});
