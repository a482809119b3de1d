import { expect, test } from "vitest";

import { decideSettled } from "../../../../infra/rollout/decide-settled.ts";

const wanted = { kind: "Function", spec: { image: "hello:2", labels: { "com.service.scale.max": "5" } } };
type Stated = readonly [type: string, status: string, reason: string, message: string];
const conditions = (...stated: readonly Stated[]) =>
  stated.map(([type, status, reason, message]) => ({ type, status, reason, message }));
const serves = ["Ready", "True", "ReplicasReady", "1 of 1 replicas is ready, of the previous deployment"] as const;
const settled = ["Reconciling", "False", "Settled", "All desired replicas are ready"] as const;

const live = (stated: readonly object[], observedGeneration = 2, spec: object = {}) => ({
  metadata: { generation: 2 },
  spec: { name: "hello", ...wanted.spec, labels: { ...wanted.spec.labels, team: "blue" }, replicas: 1, ...spec },
  status: { observedGeneration, conditions: stated },
});

test("done: the operator has looked at the change, and nothing is being replaced", () => {
  expect(decideSettled(wanted, live(conditions(serves, settled)))).toEqual({ kind: "done" });
});

test("replicas of the deployment before serve while the new ones do not start: not done", () => {
  const rolling = ["Reconciling", "True", "Rolling", "0 of 1 new replicas are ready, 1 old ones are left"] as const;
  expect(decideSettled(wanted, live(conditions(serves, rolling)))).toEqual({
    kind: "under-way",
    because: "0 of 1 new replicas are ready, 1 old ones are left",
  });
});

test("conditions of an earlier generation do not count, good or bad", () => {
  const stalled = ["Stalled", "True", "Invalid", "exec_timeout: expected a duration"] as const;
  for (const old of [conditions(serves, settled), conditions(serves, stalled)])
    expect(decideSettled(wanted, live(old, 1))).toEqual({
      kind: "under-way",
      because: "the operator has not looked at the change yet",
    });
  expect(decideSettled(wanted, { ...live([]), status: undefined }).kind).toBe("under-way");
});

test.each([
  ["failed", "Invalid"],
  ["failed", "SecretNotFound"],
  ["failed", "InvalidImageName"],
  // The nodes try again after 10 s, and clusters may add nodes.
  ["failing", "ErrImagePull"],
  ["failing", "ImagePullBackOff"],
  ["under-way", "Unschedulable"],
])("stalled is %s at reason %s, with the message of the condition", (kind, reason) => {
  const stalled = ["Stalled", "True", reason, 'Cannot pull image "hello:2": not found'] as const;
  expect(decideSettled(wanted, live(conditions(serves, stalled)))).toEqual({
    kind,
    because: 'Cannot pull image "hello:2": not found',
  });
});

test("an object that is not what the program wants is reported at once", () => {
  expect(decideSettled(wanted, live(conditions(serves, settled), 2, { image: "hello:1" }))).toEqual({
    kind: "failed",
    because:
      "its image in the cluster is not that of the program; the state of the stack is out of date: run pulumi up --refresh",
  });
  expect(decideSettled(wanted, undefined).kind).toBe("failed");
});

test("rules are done when the platform acts on them, and failed when it refuses them", () => {
  const rule = { kind: "Role", spec: {} };
  const of = (...stated: readonly Stated[]) => decideSettled(rule, live(conditions(...stated)));
  expect(of(["Accepted", "True", "Accepted", "x"], ["Ready", "True", "Enforced", "x"])).toEqual({ kind: "done" });
  expect(of(["Accepted", "False", "Refused", "it is left out"])).toEqual({ kind: "failed", because: "it is left out" });
  expect(of(["Ready", "False", "Incomplete", "no Policy"])).toEqual({ kind: "failing", because: "no Policy" });
  expect(of(["Ready", "False", "NotEnforced", "this edition"])).toEqual({ kind: "failed", because: "this edition" });
  expect(of(["Ready", "False", "KeysUnavailable", "refused"])).toEqual({ kind: "under-way", because: "refused" });
});
