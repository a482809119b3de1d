import { Ajv } from "ajv";
import fc, { type Arbitrary } from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";

import { FunctionDeployment } from "../../../runtime/api/schemas/function-deployment.ts";
import { annotationRules, labelRules, type KeyRule, type KeyRules } from "../../../runtime/api/schemas/key-rules.ts";
import { keyPrefixes } from "../../../runtime/api/names.ts";
import { PlatformError } from "../../../runtime/api/platform-error.ts";
import { checkDeployment } from "../../../runtime/core/functions/check-deployment.ts";
import { openApiServerClient, type ApiServerClient } from "../../support/api-server-client.ts";
import { functionSpecOf, objectOf } from "../../support/custom-resource-rows.ts";
import { applyDefinitions } from "../../support/apply-definitions.ts";
import { openTestCluster, type TestCluster } from "../../support/test-cluster.ts";

let cluster: TestCluster;
let client: ApiServerClient;

beforeAll(async () => {
  cluster = await openTestCluster();
  await applyDefinitions(cluster);
  client = await openApiServerClient(cluster);
});
afterAll(async () => {
  await client?.close();
  await cluster?.close();
});

const words = (...texts: string[]) => fc.constantFrom(...texts);
const durations = words(
  "0",
  "9s",
  "10s",
  "9999.5ms",
  "9999.4ms",
  "10",
  "1m30.5s",
  "5m",
  "5m0.4ms",
  "5m0.5ms",
  "300",
  "301",
  "24h",
  "24h1ms",
  "8784h",
  "8784h0.4ms",
  "8784h1ms",
  "1s1h1s",
  "999999999",
  "999999999h",
  "1.2345s",
  "1 s",
  "1d",
  "-1s",
  "+1s",
  "1us",
  "",
  ".5s",
  "1s\n",
);
const numbers = words(
  "0",
  "1",
  "5",
  "05",
  "0001",
  "00001",
  "20",
  "21",
  "100",
  "101",
  "1000",
  "1001",
  "3600",
  "3601",
  "100000",
  "100001",
  "1e3",
  "-1",
  "0.0",
  "0.000000001",
  "0.9",
  "1.0",
  "1.000000001",
  ".5",
  "5.",
  "x",
  "",
  "999999999999999",
  "1000000000000000",
);

function valuesOf(rule: KeyRule): Arbitrary<string> {
  switch (rule.kind) {
    case "choice":
      return words(...rule.words, ...rule.words, "", "other");
    case "boolean":
      return words("true", "T", "1", "YES", "", "f", "0", "no", "maybe", "on");
    case "whole":
    case "number":
      return fc.oneof(numbers, fc.constant(rule.kind === "whole" ? `${rule.min}` : "1"));
    case "duration":
      return durations;
    case "text":
      return words(
        "a",
        "a.b",
        "slow_1",
        "a, b",
        "a,",
        " a ",
        "A",
        "/",
        "/x y",
        "/_/ready",
        "408",
        "408, 599",
        "600",
        "",
        "-",
      );
    default:
      return rule satisfies never;
  }
}

/** A few platform keys under either prefix, and foreign keys. */
function keyed(rules: KeyRules): Arbitrary<Record<string, string>> {
  const entry = fc
    .constantFrom(...Object.entries(rules))
    .chain(([name, rule]) => fc.tuple(fc.constantFrom(...keyPrefixes), fc.constant(name), valuesOf(rule)))
    .map(([prefix, name, value]) => [prefix + name, value] as const);
  const other = fc.tuple(words("a", "example.com/a", "a b", "a/b/c", "-a", "é", "x".repeat(64)), words("", "b", "b-"));
  const entries = fc.array(fc.oneof({ weight: 8, arbitrary: entry }, { weight: 1, arbitrary: other }), {
    maxLength: 3,
  });
  return entries.map((list) => Object.fromEntries(list));
}

const amounts = fc.dictionary(
  fc.oneof({ weight: 6, arbitrary: words("cpu", "memory", "nvidia.com/gpu") }, words("disk", "a b/c", "x/y")),
  words(
    "0",
    "1",
    "2",
    "0.5",
    "500m",
    "501m",
    "1000m",
    "1e3",
    "1E3",
    "1Ki",
    "1024",
    "1.5k",
    "10E",
    "8E",
    "lots",
    "1.1234567891",
    "-1",
  ),
  { maxKeys: 2 },
);

const good = { service: "hello", image: "ghcr.io/acme/hello:1" };

/** Deployments with one odd aspect each, so no fault hides another. */
const deployments: Arbitrary<unknown> = fc
  .oneof(
    fc.record({ service: words("hello", "0a", "a".repeat(63)) }),
    fc.record({ image: words("a/b:1", "a@sha256:0", "", "http://a", "-a", "a b", "a:", "a:b:c/d", "a:/b", "a\n") }),
    fc.record({ envProcess: words("node x", "", "a\0b", "é".repeat(2_048), "é".repeat(2_049)) }),
    fc.record({
      envVars: fc.dictionary(
        words("a", "a.b-c", "exec_timeout", "1a", "é", ""),
        fc.oneof(durations, words("\n", "\0")),
      ),
    }),
    { weight: 4, arbitrary: fc.record({ labels: keyed(labelRules) }) },
    { weight: 6, arbitrary: fc.record({ annotations: keyed(annotationRules) }) },
    fc.record({ secrets: fc.array(words("a", "b.c", "a", "A", ".."), { maxLength: 2 }) }),
    fc.record({ constraints: fc.array(words("a=b", "a==b", "a", "=b", "a===b", "a=b\n"), { maxLength: 1 }) }),
    { weight: 3, arbitrary: fc.record({ limits: amounts, requests: amounts }) },
    fc.record({ readOnlyRootFilesystem: fc.boolean() }),
  )
  .map((odd) => ({ ...good, ...odd }));

const fits = new Ajv({ strict: false }).compile<FunctionDeployment>(FunctionDeployment);

/** Undefined when the REST API accepts the deployment, else the reason. */
function refusalOfRest(deployment: unknown): string | undefined {
  if (!fits(deployment)) return JSON.stringify(fits.errors);
  try {
    checkDeployment(deployment);
    return undefined;
  } catch (err) {
    if (err instanceof PlatformError) return err.message;
    throw err;
  }
}

test("the API server refuses the same functions as the REST API", async () => {
  const verdicts = { accepted: 0, refused: 0 };
  const path = `/apis/service.com/v1/namespaces/${cluster.namespace}/functions?dryRun=All&fieldValidation=Strict`;
  await fc.assert(
    fc.asyncProperty(deployments, async (deployment) => {
      const desired = deployment as FunctionDeployment;
      const row = { kind: "function", name: desired.service, spec: functionSpecOf(desired) } as const;
      const { status, body } = await client.send("POST", path, objectOf(row));
      const refusal = refusalOfRest(deployment);
      expect({ accepted: status === 201, why: body.message ?? refusal }).toMatchObject({
        accepted: refusal === undefined,
      });
      verdicts[refusal === undefined ? "accepted" : "refused"] += 1;
    }),
    { numRuns: 1_000 },
  );
  expect(verdicts.accepted).toBeGreaterThan(150);
  expect(verdicts.refused).toBeGreaterThan(150);
});
