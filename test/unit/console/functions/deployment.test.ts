import { describe, expect, test } from "vitest";

import type { FunctionDeployment } from "../../../../runtime/api/schemas/function-deployment.ts";
import type { FunctionStatus } from "../../../../runtime/api/schemas/function-status.ts";
import { deployCommandLine } from "../../../../runtime/console/pages/functions/edit/deploy-command.ts";
import { parseDeployment } from "../../../../runtime/console/pages/functions/edit/deployment-editor.tsx";
import { withPart } from "../../../../runtime/console/pages/functions/edit/deployment-fields.tsx";
import { deploymentOfStatus } from "../../../../runtime/console/pages/functions/edit/deployment-of-status.ts";
import { differences } from "../../../../runtime/console/pages/functions/edit/differences.ts";
import { boundsOf, withBounds } from "../../../../runtime/console/pages/functions/scaling/label-bounds.ts";

const deployment: FunctionDeployment = {
  service: "pay",
  namespace: "dev",
  image: "ghcr.io/acme/pay:1",
  envProcess: "node index.js",
  envVars: { LEVEL: "2" },
  labels: { "com.service.scale.max": "5" },
  annotations: { "com.service.retry.attempts": "3" },
  secrets: ["api-key"],
  constraints: ["zone=a"],
  limits: { memory: "128Mi" },
  requests: { cpu: "500m" },
  readOnlyRootFilesystem: true,
};
const { service, ...sent } = deployment;
const status = {
  ...sent,
  name: service,
  labels: { ...deployment.labels, faas_function: "pay" },
  replicas: 1,
  availableReplicas: 1,
  invocationCount: 0,
  createdAt: "2026-01-31T12:00:00.000Z",
  generation: 3,
  queue: "default",
  conditions: [],
} as unknown as FunctionStatus;

test("deploymentOfStatus() is what was sent, without what the platform added", () => {
  expect(deploymentOfStatus(status)).toEqual(deployment);
});

test("deploymentOfStatus() leaves out what was not sent", () => {
  const bare = { ...status, labels: { faas_function: "pay" }, annotations: {}, secrets: [], envVars: undefined };
  const made = deploymentOfStatus(bare as unknown as FunctionStatus);

  expect(Object.keys(made)).not.toEqual(expect.arrayContaining(["labels"]));
  expect(made).not.toHaveProperty("annotations");
  expect(made).not.toHaveProperty("secrets");
  expect(made).not.toHaveProperty("envVars");
});

test("differences() names each value by its path", () => {
  const after = withPart(deployment, { envVars: { LEVEL: "3", EXTRA: "" }, secrets: [], image: "ghcr.io/acme/pay:2" });

  expect(differences(deployment, after)).toEqual([
    { path: "envVars.EXTRA", after: "" },
    { path: "envVars.LEVEL", before: "2", after: "3" },
    { path: "image", before: "ghcr.io/acme/pay:1", after: "ghcr.io/acme/pay:2" },
    { path: "secrets", before: '["api-key"]' },
  ]);
  expect(differences(deployment, structuredClone(deployment))).toEqual([]);
});

test("deployCommandLine() is the same as flags of weir deploy", () => {
  expect(deployCommandLine(deployment)).toBe(
    "weir deploy pay --namespace dev --image ghcr.io/acme/pay:1 --process 'node index.js' --env LEVEL=2 --secret api-key --label com.service.scale.max=5 --annotation com.service.retry.attempts=3 --limit memory=128Mi --request cpu=500m --constraint zone=a --read-only",
  );
});

describe("parseDeployment()", () => {
  test.each([
    ["{", "This is no JSON: "],
    ["[]", "This is no JSON object"],
    ["null", "This is no JSON object"],
    ['{"service":"a"}', "service and image have to be texts"],
  ])("%j is refused: %s", (text, problem) => {
    expect(parseDeployment(text).problem).toContain(problem);
    expect(parseDeployment(text).deployment).toBeUndefined();
  });

  test("fields that the page does not know are sent as they are", () => {
    expect(parseDeployment('{"service":"a","image":"b","x":1}')).toEqual({
      deployment: { service: "a", image: "b", x: 1 },
    });
  });
});

describe("bounds", () => {
  test("a label keeps the prefix that it has; an empty one goes", () => {
    const before: FunctionDeployment = {
      service: "a",
      image: "b",
      labels: { "com.openfaas.scale.max": "5", "com.service.scale.min": "2", team: "x" },
    };
    const bounds = boundsOf(before.labels);

    expect(bounds).toMatchObject({ min: "2", max: "5", zero: "" });
    expect(withBounds(before, { ...bounds, max: "7", min: "", zero: "true" }).labels).toEqual({
      "com.openfaas.scale.max": "7",
      "com.service.scale.zero": "true",
      team: "x",
    });
    expect(withBounds(before, bounds)).toEqual(before);
  });

  test("without a bound there are no labels", () => {
    expect(withBounds({ service: "a", image: "b" }, boundsOf())).toEqual({ service: "a", image: "b" });
  });
});
