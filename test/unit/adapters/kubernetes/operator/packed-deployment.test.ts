import { expect, test } from "vitest";

import {
  packDeployment,
  unpackDeployment,
} from "../../../../../runtime/adapters/kubernetes/operator/packed-deployment.ts";

const metadata = { namespace: "functions", name: "f", uid: "u1", generation: 2 };
const described = { spec: { template: { metadata: { annotations: { revision: "r" } } } }, status: { replicas: 1 } };

test("a packed Deployment keeps its content and the fields that others own, and names its function", () => {
  const labels = { faas_function: "f", team: "ä" };
  const foreign = { manager: "other", fieldsV1: { "f:spec": {} } };
  const managedFields = [{ manager: "m", fieldsV1: { "f:spec": {} } }, foreign];
  const packed = packDeployment({ metadata: { ...metadata, labels, managedFields }, ...described }, "m");
  expect(packed.metadata).toEqual({ namespace: "functions", labels: { faas_function: "f" } });
  expect(unpackDeployment(packed)).toEqual({
    metadata: { ...metadata, labels, managedFields: [foreign] },
    ...described,
  });
});

test("a Deployment of no function names none", () => {
  expect(packDeployment({ metadata, ...described }, "m").metadata).toEqual({ namespace: "functions" });
});
