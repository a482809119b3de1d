import { expect, test } from "vitest";

import type { Condition } from "../../../../runtime/api/schemas/function-status.ts";
import type { DesiredFunction } from "../../../../runtime/core/functions/desired-function.ts";
import { functionStatus } from "../../../../runtime/core/functions/function-status.ts";

const wanted: DesiredFunction = {
  name: "hello",
  namespace: "functions",
  deployment: {
    service: "hello",
    image: "a",
    namespace: "functions",
    labels: { faas_function: "other", a: "b" },
    secrets: ["s"],
  },
  replicas: 2,
  generation: 2,
  createdAt: "2026-01-01T00:00:00.000Z",
  updatedAt: "2026-01-02T00:00:00.000Z",
};
const condition = (type: Condition["type"], status: Condition["status"]): Condition => ({
  type,
  status,
  reason: "Said",
  message: "Said",
  lastTransitionTime: "2026-01-01T00:00:00.000Z",
});

test("shows fields as deployed, and counts as numbers", () => {
  const status = functionStatus(wanted, undefined, 0);
  expect(status).toMatchObject({
    name: "hello",
    namespace: "functions",
    labels: { faas_function: "hello", a: "b" },
    annotations: {},
    secrets: ["s"],
    replicas: 2,
    availableReplicas: 0,
    invocationCount: 0,
    queue: "default",
    generation: 2,
  });
  expect(Object.keys(status)).not.toContain("service");
  expect(Object.keys(status)).not.toContain("envVars");
});

test("what the provider reported of an older deployment is marked as such", () => {
  const endpoints = {
    name: "hello",
    namespace: "functions",
    addresses: ["127.0.0.1:1"],
    observedGeneration: 1,
    conditions: [condition("Ready", "True"), condition("Reconciling", "False")],
  };
  expect(functionStatus(wanted, endpoints, 0)).toMatchObject({
    availableReplicas: 1,
    conditions: [
      { type: "Ready", status: "True" },
      { type: "Reconciling", status: "True", lastTransitionTime: wanted.updatedAt },
      { type: "Scaling" },
    ],
  });
  const { conditions } = functionStatus(wanted, { ...endpoints, observedGeneration: 2 }, 0);
  expect(conditions.slice(0, -1)).toEqual(endpoints.conditions);
});

test("condition Scaling gives the reason for the number of replicas", () => {
  const scalingOf = (over: Partial<DesiredFunction>) =>
    functionStatus({ ...wanted, ...over }, undefined, 0).conditions.at(-1);
  expect(scalingOf({})).toMatchObject({
    type: "Scaling",
    status: "True",
    reason: "Deployed",
    message: "As deployed: 2 wanted",
  });
  const labels = { "com.service.scale.min": "2", "com.service.scale.max": "2" };
  expect(scalingOf({ deployment: { ...wanted.deployment, labels } })).toMatchObject({
    status: "False",
    message: "As deployed: scale.min is 2",
  });
  const scaled = { reason: "Idle", message: "No call for 2m", at: "2026-01-03T00:00:00.000Z" };
  expect(scalingOf({ replicas: 0, scaled })).toEqual({
    type: "Scaling",
    status: "True",
    reason: "Idle",
    message: "No call for 2m",
    lastTransitionTime: scaled.at,
  });
});

test("before the provider has reported, readiness is unknown", () => {
  const pending = { reason: "Pending", lastTransitionTime: wanted.updatedAt };
  const reconciling = {
    ...pending,
    type: "Reconciling",
    status: "True",
    message: "The provider has not yet acted on the newest deployment",
  };
  const ready = { ...pending, type: "Ready", status: "Unknown", message: "The provider has not reported yet" };
  expect(functionStatus(wanted, undefined, 0).conditions.slice(0, -1)).toEqual([reconciling, ready]);
  const endpoints = { name: "hello", namespace: "functions", addresses: [], observedGeneration: 1 };
  const healthy = condition("Healthy", "True");
  expect(functionStatus(wanted, { ...endpoints, conditions: [healthy] }, 0).conditions.slice(0, -1)).toEqual([
    healthy,
    reconciling,
    ready,
  ]);
});

test("annotations are shown as deployed, and the queue that they name", () => {
  const annotations = { "com.openfaas.queue": "slow", topic: "a" };
  const deployment = { ...wanted.deployment, annotations };
  expect(functionStatus({ ...wanted, deployment }, undefined, 0)).toMatchObject({ annotations, queue: "slow" });
});
