import { describe, expect, test } from "vitest";

import { functionDeployment } from "../../../../../runtime/adapters/kubernetes/manifests/function-deployment.ts";
import { functionService } from "../../../../../runtime/adapters/kubernetes/manifests/function-service.ts";
import { objectName } from "../../../../../runtime/adapters/kubernetes/manifests/object-names.ts";
import type {
  DeploymentObject,
  ServiceObject,
} from "../../../../../runtime/adapters/kubernetes/manifests/object-types.ts";
import type { FunctionContext } from "../../../../../runtime/adapters/kubernetes/manifests/pods/pod-template.ts";
import type { FunctionDeployment } from "../../../../../runtime/api/schemas/function-deployment.ts";
import { objectAnnotation } from "../../../../../runtime/api/names.ts";
import type { DesiredFunction } from "../../../../../runtime/core/functions/desired-function.ts";
import { changed, context, full, fullContext, merged, plain } from "../function-samples.ts";

interface Objects {
  readonly deployment: DeploymentObject;
  readonly service: ServiceObject;
}

function objectsOf(wanted: DesiredFunction, around: FunctionContext): Objects {
  return { deployment: functionDeployment(wanted, around), service: functionService(wanted, around) };
}

/** Which of the objects differ; `pods` if the pod template does. */
function differences(before: Objects, after: Objects): string[] {
  const { template: oldTemplate, ...oldSpec } = before.deployment.spec;
  const { template, ...spec } = after.deployment.spec;
  const parts: readonly (readonly [name: string, a: unknown, b: unknown])[] = [
    ["pods", oldTemplate, template],
    ["deployment", { ...before.deployment, spec: oldSpec }, { ...after.deployment, spec }],
    ["service", before.service, after.service],
  ];
  return parts.filter(([, a, b]) => JSON.stringify(a) !== JSON.stringify(b)).map(([name]) => name);
}

function revision({ deployment }: Objects): string | undefined {
  return deployment.spec.template.metadata.annotations[objectAnnotation.revision];
}

const annotated = (name: string, value: string): Partial<FunctionDeployment> => ({
  annotations: { ...full.deployment.annotations, [`com.service.${name}`]: value },
});
const labelled = (name: string, value: string): Partial<FunctionDeployment> => ({
  labels: { ...full.deployment.labels, [name]: value },
});

type Row = readonly [change: string, fields: Partial<FunctionDeployment>, differs: readonly string[]];

const rolls: readonly Row[] = [
  ["image", { image: "ghcr.io/acme/resize:2" }, ["pods"]],
  ["envProcess", { envProcess: "node /app/other.js" }, ["pods"]],
  ["a variable", { envVars: { exec_timeout: "20s", PRICE: "6" } }, ["pods"]],
  ["exec_timeout", { envVars: { ...full.deployment.envVars, exec_timeout: "10s" } }, ["pods"]],
  ["secrets", { secrets: ["db", "registry"] }, ["pods"]],
  ["constraints", { constraints: ["zone=b"] }, ["pods"]],
  ["limits", { limits: { ...full.deployment.limits, memory: "512Mi" } }, ["pods"]],
  ["requests", { requests: { memory: "64Mi" } }, ["pods"]],
  ["readOnlyRootFilesystem", { readOnlyRootFilesystem: false }, ["pods"]],
  ["health.http.path", annotated("health.http.path", "/well"), ["pods"]],
  ["health.http.timeoutSeconds", annotated("health.http.timeoutSeconds", "3"), ["pods"]],
  ["ready.http.path", annotated("ready.http.path", "/set"), ["pods"]],
  ["ready.http.periodSeconds", annotated("ready.http.periodSeconds", "3"), ["pods"]],
  ["serviceaccount", annotated("serviceaccount", "other"), ["pods"]],
  ["protocol", annotated("protocol", "h2c"), ["pods", "service"]],
];
const doesNotRoll: readonly Row[] = [
  ["another label", labelled("team", "films"), []],
  ["scale.min", labelled("com.service.scale.min", "3"), []],
  ["scale.max", labelled("com.service.scale.max", "9"), []],
  ["scale.zero", labelled("com.service.scale.zero", "true"), []],
  ["scale.type", labelled("com.service.scale.type", "capacity"), []],
  ["queue", annotated("queue", "slow"), []],
  ["retry.attempts", annotated("retry.attempts", "1"), []],
  ["auth", annotated("auth", "required"), []],
  ["concurrency.max", annotated("concurrency.max", "3"), []],
  ["result.ttl", annotated("result.ttl", "2h"), []],
  ["history.bodies", annotated("history.bodies", "2h"), []],
  ["another annotation", { annotations: { ...full.deployment.annotations, topic: "films" } }, []],
  ["the order of variables", { envVars: { PRICE: "$(HOME) costs $$5", exec_timeout: "20s" } }, []],
  ["the order of secrets", { secrets: ["api-key", "db", "registry"] }, []],
];

describe("a change of a function", () => {
  const before = objectsOf(full, fullContext);

  test.each([...rolls, ...doesNotRoll])("%s", (_change, fields, differs) => {
    const after = objectsOf(changed(full, fields), fullContext);

    expect(differences(before, after)).toEqual(differs);
    expect(revision(after) === revision(before)).toBe(!differs.includes("pods"));
  });

  test("has a row for every field of a deployment", () => {
    const fields = new Set([...rolls, ...doesNotRoll].flatMap(([, changes]) => Object.keys(changes)));
    const named = new Set(["service", "namespace"]);

    expect([...fields].sort()).toEqual(
      Object.keys(full.deployment)
        .filter((field) => !named.has(field))
        .sort(),
    );
  });

  test.each<[change: string, wanted: Partial<DesiredFunction>, differs: readonly string[]]>([
    ["the count", { replicas: 5 }, ["deployment"]],
    ["the reason for scaling", { scaled: { reason: "Idle", message: "No call", at: full.createdAt } }, []],
    ["the times", { createdAt: "2027-01-01T00:00:00.000Z", updatedAt: "2027-01-01T00:00:00.000Z" }, []],
    ["the generation", { generation: 99 }, []],
  ])("%s", (_change, fields, differs) => {
    expect(differences(before, objectsOf({ ...full, ...fields }, fullContext))).toEqual(differs);
  });
});

describe("a change of a function's surroundings", () => {
  const before = objectsOf(full, fullContext);
  const { strategy: _, ...pods } = merged;

  test.each<[change: string, around: Partial<FunctionContext>, differs: readonly string[]]>([
    ["a deployment by request, even an equal one", { rollout: 8 }, ["pods"]],
    ["the gateway's address", { gatewayUrl: "http://gateway.other:8080" }, ["pods"]],
    ["the audience of workload tokens", { tokenAudience: "https://other.example/oauth/token" }, ["pods"]],
    ["a secret becomes a registry's", { pullSecrets: new Set(["registry", "db"]) }, ["pods"]],
    ["no Profile", { profiles: [] }, ["pods", "deployment"]],
    ["a Profile's strategy", { profiles: [pods, { strategy: { type: "Recreate" } }] }, ["deployment"]],
    ["all Profiles as one", { profiles: [merged] }, []],
    ["a longer call elsewhere", { longestCall: 600_000 }, []],
    ["the namespace's default limits", { defaultLimits: { memory: "1Gi" } }, []],
    ["the Function object was replaced", { owner: { name: "resize", uid: "b" } }, ["deployment", "service"]],
  ])("%s", (_change, around, differs) => {
    expect(differences(before, objectsOf(full, { ...fullContext, ...around }))).toEqual(differs);
  });

  test("the audience of workload tokens concerns only functions that get one", () => {
    const after = objectsOf(plain, { ...context, tokenAudience: undefined });
    expect(differences(objectsOf(plain, context), after)).toEqual([]);
  });

  test("a longer call is allowed, and the function has no limit of its own", () => {
    const after = objectsOf(plain, { ...context, longestCall: 60_000 });
    expect(differences(objectsOf(plain, context), after)).toEqual(["pods"]);
  });

  test("a longer call is allowed for this function alone", () => {
    const timed = { ...plain, deployment: { ...plain.deployment, annotations: { "com.service.timeout": "60s" } } };
    expect(differences(objectsOf(plain, context), objectsOf(timed, context))).toEqual(["pods"]);
  });

  test.each<[field: string, profile: object]>([
    ["tolerations", { tolerations: [{ key: "a", operator: "Exists" }] }],
    ["runtimeClassName", { runtimeClassName: "a" }],
    ["podSecurityContext", { podSecurityContext: { runAsUser: 20_000 } }],
    ["affinity", { affinity: { podAntiAffinity: {} } }],
    ["topologySpreadConstraints", { topologySpreadConstraints: [{ maxSkew: 3, topologyKey: "rack" }] }],
    ["dnsPolicy", { dnsPolicy: "Default" }],
    ["dnsConfig", { dnsConfig: { searches: ["a"] } }],
    ["resources", { resources: { limits: { memory: "1Gi" } } }],
    ["priorityClassName", { priorityClassName: "a" }],
  ])("%s of a Profile rolls the functions that name it", (_field, profile) => {
    const after = objectsOf(plain, { ...context, profiles: [profile] });
    expect(differences(objectsOf(plain, context), after)).toEqual(["pods"]);
  });
});

describe("objectName", () => {
  test.each([
    ["hello", "hello"],
    ["0ne", "fn-0ne"],
    ["fn-0ne", "fn-fn-0ne"],
    ["fn-one", "fn-one"],
    ["4".repeat(60), `fn-${"4".repeat(60)}`],
  ])("%s", (name, expected) => {
    expect(objectName(name)).toBe(expected);
  });

  test("is a valid name of a Service for the longest function names, and unique", () => {
    const names = ["4".repeat(63), `${"4".repeat(62)}5`, "4".repeat(61)].map(objectName);

    for (const name of names) expect(name).toMatch(/^[a-z](?:[-a-z0-9]{0,61}[a-z0-9])?$/);
    expect(new Set(names).size).toBe(3);
  });
});
