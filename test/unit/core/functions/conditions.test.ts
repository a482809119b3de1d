import { describe, expect, test } from "vitest";

import {
  finalFailure,
  functionConditions,
  whyNotReady,
  type ConditionFacts,
} from "../../../../runtime/core/functions/conditions.ts";

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
const unsigned = { reason: "CallbackSecretUnusable", message: "Cannot sign callbacks" };
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
        Healthy: "Unknown NothingReady",
        Reconciling: "True Starting",
        Stalled: "False Progressing",
      },
    ],
    [
      "settled, and a person has to act",
      { attention: { reason: "QueueNotFound", message: "Cannot queue" } },
      {
        Ready: "True ReplicasReady",
        Healthy: "True NoFailure",
        Reconciling: "False Settled",
        Stalled: "True QueueNotFound",
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
      "scaling to zero",
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
      { ...starting, existing: 0, blocked: { reason: "SecretNotFound", message: "x" } },
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
    ["two failures, then a pause", 2, { backingOff: true }, failure.message],
    ["two failures, and a third attempt", 2, { backingOff: false }, undefined],
    [
      "one failure, then a pause, and callbacks cannot be signed",
      1,
      { backingOff: true, attention: unsigned },
      undefined,
    ],
    ["two failures, but the desired replicas are ready", 2, { backingOff: true, ready: 1, readyCurrent: 1 }, undefined],
  ])("whether a failure is final: %s", (_, failures, facts, final) => {
    const backoff = { failures, until: 0, last: failure };
    expect(finalFailure(functionConditions({ ...starting, backoff, ...facts }, [], at))?.message).toBe(final);
  });

  test("what needs attention beside replicas is no reason why none is ready", () => {
    const conditions = functionConditions({ ...starting, attention: unsigned }, [], at);
    expect(conditions.find(({ type }) => type === "Stalled")).toMatchObject({ status: "True", ...unsigned });
    expect(whyNotReady(conditions)).toBeUndefined();
    const failing = { ...starting, attention: unsigned, backoff: { failures: 1, until: 0, last: failure } };
    expect(whyNotReady(functionConditions(failing, [], at))?.message).toBe(failure.message);
  });

  test("Ready says why not", () => {
    const [ready] = functionConditions({ ...starting, backoff: { failures: 1, until: 0, last: failure } }, [], at);

    expect(ready?.message).toBe("0 of 1 replicas are ready: The process ended with code 3");
  });

  test("lastTransitionTime is the time of the last change of status, whatever the message", () => {
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

describe("the message of each condition", () => {
  const messages = (facts: Partial<ConditionFacts>): Record<string, string> => {
    const conditions = functionConditions({ ...settled, ...facts }, [], at);
    return Object.fromEntries(conditions.map(({ type, message }) => [type, message]));
  };
  const blocked = { reason: "SecretNotFound", message: "Secret x does not exist" };
  const progress = { reason: "PullingImage", message: "The image is pulled" };
  const backoff = { failures: 2, until: 0, last: failure };

  test("settled: what runs equals desired state", () => {
    expect(messages({})).toEqual({
      Ready: "1 of 1 replicas is ready",
      Healthy: "No replica has failed",
      Reconciling: "All desired replicas are ready, and no others exist",
      Stalled: "Nothing is in the way",
    });
    expect(messages({ wanted: 3, ready: 2 })["Ready"]).toBe("2 of 3 replicas are ready");
  });

  test("at zero nothing runs", () => {
    expect(messages({ wanted: 0, ready: 0, readyCurrent: 0, existing: 0 })).toMatchObject({
      Ready: "No replica is wanted; a call starts one",
      Healthy: "No replica runs",
    });
    // A replica that still stops does not count for health.
    expect(shown({ wanted: 0, ready: 1, readyCurrent: 0 })["Healthy"]).toBe("Unknown NothingRuns");
  });

  test("replicas in progress are counted", () => {
    expect(messages(starting)["Reconciling"]).toBe("0 of 1 replicas are ready");
    expect(messages({ superseded: 1, existing: 2, readyCurrent: 0 })["Reconciling"]).toBe(
      "0 of 1 new replicas are ready, 1 old ones are left",
    );
    expect(messages({ superseded: 1, existing: 2 })["Reconciling"]).toBe("2 replicas exist, 1 are wanted");
    expect(messages({ existing: 3 })["Reconciling"]).toBe("3 replicas exist, 1 are wanted");
    expect(messages({ ...starting, backingOff: true })["Reconciling"]).toBe(
      "The next replica is started after a pause, as the last attempt failed",
    );
  });

  test("what keeps replicas from starting outranks what one waits for, which outranks the last failure", () => {
    const ready = (facts: Partial<ConditionFacts>) => messages({ ...starting, ...facts })["Ready"];
    expect(ready({ blocked, progress, backoff })).toBe("0 of 1 replicas are ready: Secret x does not exist");
    expect(ready({ progress, backoff })).toBe("0 of 1 replicas are ready: The image is pulled");
    expect(ready({ backoff })).toBe("0 of 1 replicas are ready: The process ended with code 3");
  });

  test("what a replica waits for is reported while fewer are ready than desired", () => {
    expect(shown({ ...starting, progress })["Reconciling"]).toBe("True PullingImage");
    expect(messages({ ...starting, progress })["Reconciling"]).toBe("The image is pulled");
    expect(shown({ existing: 2, progress })["Reconciling"]).toBe("True Stopping");
    expect(shown({ existing: 2, backingOff: true })["Reconciling"]).toBe("True Stopping");
  });

  test("a crash loop stalls only a function that is not ready, and other failures keep their reason", () => {
    expect(shown({ backoff })["Stalled"]).toBe("False Progressing");
    const other = { failures: 2, until: 0, last: { reason: "OOMKilled", message: "m" } };
    expect(shown({ ...starting, backoff: other })).toMatchObject({
      Healthy: "False OOMKilled",
      Stalled: "True OOMKilled",
    });
  });
});
