import { expect, test } from "vitest";

import type { Condition } from "../../../runtime/api/function-status.ts";
import type { DesiredFunction } from "../../../runtime/core/desired-function.ts";
import { functionStatus } from "../../../runtime/core/function-status.ts";

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
const said = (type: Condition["type"], status: Condition["status"]): Condition => ({
  type,
  status,
  reason: "Said",
  message: "Said",
  lastTransitionTime: "2026-01-01T00:00:00.000Z",
});

test("shows fields as deployed and counts as numbers", () => {
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

test("what the provider says of an older deployment is marked as such", () => {
  const endpoints = {
    name: "hello",
    namespace: "functions",
    addresses: ["127.0.0.1:1"],
    observedGeneration: 1,
    conditions: [said("Ready", "True"), said("Reconciling", "False")],
  };
  expect(functionStatus(wanted, endpoints, 0)).toMatchObject({
    availableReplicas: 1,
    conditions: [
      { type: "Ready", status: "True" },
      { type: "Reconciling", status: "True", lastTransitionTime: wanted.updatedAt },
    ],
  });
  expect(functionStatus(wanted, { ...endpoints, observedGeneration: 2 }, 0).conditions).toEqual(endpoints.conditions);
});
