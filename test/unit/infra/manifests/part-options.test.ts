import { describe, expect, test } from "vitest";

import type { KubernetesObject } from "../../../../infra/manifests/kubernetes-object.ts";
import { platformManifests } from "../../../../infra/manifests/platform-manifests.ts";
import { checkPlatform, readPlatform } from "../../../../infra/manifests/read-platform.ts";
import { objectNamed, objectsOf } from "../../../support/manifest-platform.ts";

interface Template {
  readonly metadata: { readonly labels: object; readonly annotations?: object };
  readonly spec: Readonly<Record<string, unknown>> & { readonly containers: readonly object[] };
}

function templateOf(objects: readonly KubernetesObject[], kind: string, name: string): Template {
  return (objectNamed(objects, kind, name)["spec"] as { readonly template: Template }).template;
}

const zone = { maxSkew: 2, topologyKey: "topology.kubernetes.io/zone", whenUnsatisfiable: "DoNotSchedule" };
const affinity = { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [] } } };
const options = {
  edition: "enterprise",
  nats: { replicas: 3 },
  pods: {
    nodeSelector: { pool: "system" },
    tolerations: [{ key: "system", operator: "Exists" }],
    labels: { tier: "a" },
  },
  parts: {
    gateway: {
      resources: { requests: { cpu: 2 }, limits: { cpu: "4", memory: "1Gi" } },
      priorityClass: "high",
      nodeSelector: { pool: "edge" },
      tolerations: [{ key: "edge", operator: "Exists" }],
      affinity,
      topologySpread: [zone],
      labels: { team: "edge", "app.kubernetes.io/instance": "mine" },
      annotations: { "example.com/scrape": "true" },
      accountAnnotations: { "eks.amazonaws.com/role-arn": "arn:aws:iam::1:role/x" },
      env: { TZ: "UTC" },
    },
    nats: { env: { GOGC: "50" }, topologySpread: [zone] },
  },
} as const;
const objects = objectsOf(readPlatform(options));

describe("options of one part", () => {
  test("are in its pods, beside those of all", () => {
    const { metadata, spec } = templateOf(objects, "Deployment", "gateway");
    expect(metadata).toMatchObject({
      labels: { tier: "a", team: "edge", "app.kubernetes.io/instance": "gateway" },
      annotations: { "example.com/scrape": "true" },
    });
    expect(spec).toMatchObject({
      priorityClassName: "high",
      nodeSelector: { pool: "edge" },
      tolerations: [
        { key: "system", operator: "Exists" },
        { key: "edge", operator: "Exists" },
      ],
      affinity,
      topologySpreadConstraints: [
        { ...zone, labelSelector: { matchLabels: { "app.kubernetes.io/instance": "gateway" } } },
      ],
      containers: [
        {
          resources: { requests: { cpu: "2" }, limits: { cpu: "4", memory: "1Gi" } },
          env: expect.arrayContaining([{ name: "TZ", value: "UTC" }]),
        },
      ],
    });
    expect(objectNamed(objects, "ServiceAccount", "gateway").metadata.annotations).toEqual({
      "eks.amazonaws.com/role-arn": "arn:aws:iam::1:role/x",
    });
  });

  test("are in no others, and the broker has them, too", () => {
    const { metadata, spec } = templateOf(objects, "Deployment", "operator");
    expect(metadata.labels).not.toHaveProperty("team");
    expect(spec).toMatchObject({ nodeSelector: { pool: "system" } });
    expect(spec).not.toHaveProperty("affinity");
    const broker = templateOf(objects, "StatefulSet", "nats").spec;
    expect(broker).toMatchObject({ topologySpreadConstraints: [zone], affinity: { podAntiAffinity: {} } });
    expect(broker.containers).toMatchObject([{ env: expect.arrayContaining([{ name: "GOGC", value: "50" }]) }]);
  });

  test.each([
    [{ gatewey: {} }, /^parts\.gatewey: no such option; did you mean gateway\?/],
    [{ gateway: { nodeSelektor: {} } }, /^parts\.gateway\.nodeSelektor: no such option/],
    [{ gateway: { resources: { limits: { cpu: "much" } } } }, /^parts\.gateway\.resources\.limits\.cpu: expected/],
    [{ gateway: { env: { upstream_timeout: "1s" } } }, /^parts\.gateway\.env\["upstream_timeout"\]: expected the name/],
    [{ gateway: { env: { NODE_OPTIONS: "x" } } }, /^parts\.gateway\.env\["NODE_OPTIONS"\]: expected the name/],
    [{ gateway: { topologySpread: {} } }, /^parts\.gateway\.topologySpread: expected a list/],
    [{ gateway: [] }, /^parts\.gateway: expected a mapping/],
  ])("that are wrong are named: %j", (parts, problem) => {
    expect(checkPlatform({ parts }).problems).toEqual([expect.stringMatching(problem)]);
  });
});

test("common labels are on all objects and pods of the platform, and select nothing", () => {
  const platform = readPlatform({ commonLabels: { "example.com/owner": "core", "app.kubernetes.io/part-of": "mine" } });
  const parts = platformManifests(platform, {
    definitions: [{ apiVersion: "apiextensions.k8s.io/v1", kind: "CustomResourceDefinition", metadata: { name: "x" } }],
    secrets: [{ apiVersion: "v1", kind: "Secret", metadata: { name: "basic-auth" } }],
  });
  const [definitions, others] = [parts.filter(isDefinitions), parts.filter((part) => !isDefinitions(part))];
  for (const object of others.flatMap((part) => part.objects)) {
    expect(object.metadata.labels, `${object.kind} ${object.metadata.name}`).toMatchObject({
      "example.com/owner": "core",
    });
  }
  expect(definitions[0]?.objects[0]?.metadata.labels).toBeUndefined();
  const gateway = objectNamed(objectsOf(platform), "Deployment", "gateway");
  expect(gateway.metadata.labels).toMatchObject({ "app.kubernetes.io/part-of": "weir" });
  expect(templateOf([gateway], "Deployment", "gateway").metadata.labels).toMatchObject({ "example.com/owner": "core" });
  expect(JSON.stringify((gateway["spec"] as { readonly selector: object }).selector)).not.toContain("owner");
});

function isDefinitions({ name }: { readonly name: string }): boolean {
  return name === "custom-resource-definitions";
}
