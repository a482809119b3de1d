import { readFile } from "node:fs/promises";

import * as pulumi from "@pulumi/pulumi";
import { beforeAll, describe, expect, test } from "vitest";

import type { KubernetesObject } from "../../../infra/manifests/kubernetes-object.ts";
import { platformManifests } from "../../../infra/manifests/platform-manifests.ts";
import { editionNames } from "../../../runtime/api/editions.ts";
import { notEmpty } from "../../support/not-empty.ts";
import { apiServerThere, resourceNamed, settled, type RegisteredResource } from "../../support/pulumi-mocks.ts";
import { recordedStack, type RecordedStack } from "../../support/pulumi-stack.ts";

const isKubernetes = ({ type }: RegisteredResource) => type.startsWith("kubernetes:");
const keyOf = (object: Pick<KubernetesObject, "apiVersion" | "kind" | "metadata">) =>
  `${object.apiVersion} ${object.kind} ${object.metadata.namespace ?? ""}/${object.metadata.name}`;

/** Without what the program adds to pods, and without undefined fields. */
function withoutMarks(object: unknown): unknown {
  const text = JSON.stringify(object, (key, value: unknown) =>
    key === "weir/certificate" || key === "weir/authority" ? undefined : value,
  );
  return JSON.parse(text.replaceAll(',"annotations":{}', "").replaceAll('"annotations":{},', ""));
}

describe.each(editionNames)("edition %s", (edition) => {
  let stack: RecordedStack;
  let objects: readonly RegisteredResource[];

  beforeAll(async () => {
    stack = await recordedStack({ edition });
    objects = stack.resources.filter(isKubernetes);
  });

  if (edition === "community")
    test("has the number of resources that the installation page states", async () => {
      const page = await readFile(new URL("../../../docs/install.md", import.meta.url), "utf8");
      const counts = [...page.matchAll(/\b(\d+) (?:created|unchanged|deleted)\b/g)].map(([, count]) => Number(count));
      // The stack itself counts, too.
      expect(counts).toEqual(Array<number>(3).fill(stack.resources.length + 1));
    });

  test("creates the objects that render prints, field by field, and secrets and definitions as well", () => {
    const { platform } = stack.config;
    const apiServer = { ...platform.apiServer, ...apiServerThere };
    const rendered = platformManifests({ ...platform, apiServer }).flatMap((part) => part.objects);
    const made = new Map(objects.map(({ inputs }) => [keyOf(inputs as KubernetesObject), inputs]));
    for (const object of rendered)
      expect(withoutMarks(made.get(keyOf(object))), keyOf(object)).toEqual(withoutMarks(object));
    const others = objects.length - rendered.length;
    const secrets = objects.filter(({ parent }) => parent.startsWith("weir:platform:Credentials::"));
    const definitions = objects.filter(({ type }) => type.endsWith(":CustomResourceDefinition"));
    expect(definitions).toHaveLength(6);
    expect(others).toBe(secrets.length + definitions.length);
  });

  test("names every object, in the component of its part, with a provider of the program", () => {
    const parents = new Set(stack.resources.map(({ type, name }) => `${type}::${name}`));
    for (const { type, name, parent, provider, custom, inputs } of stack.resources) {
      if (!custom || type.startsWith("pulumi:providers:")) continue;
      expect(parents, name).toContain(parent);
      expect(parent, name).toMatch(/^weir:platform:/);
      expect(provider, `${type} ${name}`).toBe(type.endsWith("CustomResourceDefinition") ? "weir-definitions" : "weir");
      if (type.startsWith("kubernetes:")) expect((inputs as KubernetesObject).metadata.name).toMatch(/^[a-z]/);
    }
    for (const { type, name, parent } of stack.resources.filter(({ type: of }) => of.startsWith("weir:platform:")))
      if (type !== "weir:platform:Weir") expect(parent, name).toMatch(/^weir:platform:/);
  });

  test("marks all secret values, and has them in Secrets only", () => {
    const all = (type: RegExp) =>
      notEmpty(
        stack.resources.filter((each) => type.test(each.type)),
        String(type),
      );
    for (const { name, inputs, secretInputs } of all(/^kubernetes:core\/v1:Secret$/))
      // The files of the one are the operator's.
      if (name === "weir-operator-callback-secrets") expect(inputs).not.toHaveProperty("data");
      else expect(secretInputs, name).toContain("data");
    for (const { name, secretOutputs } of all(/^random:/)) expect(secretOutputs, name).toContain("result");
    for (const { name, secretOutputs } of all(/:PrivateKey$/)) expect(secretOutputs, name).toContain("privateKeyPem");
    const made = stack.resources.flatMap(({ name, inputs, secretInputs }) =>
      Object.entries(inputs)
        .filter(([, value]) => /generated-|PRIVATE KEY/.test(JSON.stringify(value)))
        .map(([key]) => ({ name, key, secretInputs })),
    );
    for (const { name, key, secretInputs } of notEmpty(made, "secret that was made"))
      expect(secretInputs, `${name} ${key}`).toContain(key);
  });

  test("retains the definitions, which others may use, and adopts existing ones", () => {
    const kept = stack.resources.filter(({ retainOnDelete }) => retainOnDelete);
    expect(new Set(kept.map(({ type }) => type.split(":").at(-1)))).toEqual(new Set(["CustomResourceDefinition"]));
    expect(resourceNamed(stack.resources, "providers:kubernetes", "weir-definitions").inputs).toMatchObject({
      upsertExistingObjects: "true",
      enablePatchForce: "true",
    });
    expect(resourceNamed(stack.resources, "providers:kubernetes", "weir").inputs).toMatchObject({
      enableServerSideApply: "true",
      enableConfigMapMutable: "true",
      enableSecretMutable: "true",
    });
  });

  test("has its address and credentials as outputs", async () => {
    const { platform } = stack;
    expect(await settled(platform.edition)).toEqual({ value: edition, secret: false });
    expect(await settled(platform.adminUser)).toEqual({ value: "admin", secret: false });
    expect(await settled(platform.adminPassword)).toEqual({
      value: "generated-weir-credentials-basic-auth",
      secret: true,
    });
    expect((await settled(platform.gatewayUrl)).value).toBe("http://gateway.weir.svc.cluster.local:8080");
    expect((await settled(platform.publicUrl)).value).toBe("");
    expect((await settled(platform.consoleUrl)).value).toBe("");
    expect((await settled(platform.queues)).value).toEqual(["default"]);
    expect((await settled(platform.portForward)).value).toBe("kubectl -n weir port-forward service/gateway 8080:8080");
  });
});

describe("order", () => {
  let stack: RecordedStack;
  const waitsFor = (type: string, name: string) => resourceNamed(stack.resources, type, name).dependencies;

  beforeAll(async () => {
    stack = await recordedStack({ edition: "enterprise", queues: { reports: {} }, gateway: { replicas: 2 } });
  });

  test("the operator comes after the definitions, its account and the policies", () => {
    expect(waitsFor(":Deployment", "weir-operator-operator")).toEqual(
      expect.arrayContaining([
        "kubernetes:apiextensions.k8s.io/v1:CustomResourceDefinition::weir-kinds-functions.service.com",
        "kubernetes:rbac.authorization.k8s.io/v1:RoleBinding::weir-access-weir-operator-functions",
        "kubernetes:networking.k8s.io/v1:NetworkPolicy::weir-network-policies-operator",
      ]),
    );
  });

  test("the broker comes after its secrets and configuration, and only then its Service", () => {
    expect(waitsFor(":StatefulSet", "weir-nats-nats")).toEqual(
      expect.arrayContaining([
        "kubernetes:core/v1:Secret::weir-credentials-nats-tls",
        "kubernetes:core/v1:Secret::weir-credentials-nats-queue-worker-reports",
        "kubernetes:core/v1:ConfigMap::weir-nats-nats-config",
        "kubernetes:core/v1:Service::weir-nats-nats-headless",
      ]),
    );
    expect(waitsFor(":Service", "weir-nats-nats")).toContain("kubernetes:apps/v1:StatefulSet::weir-nats-nats");
  });

  test("operator, queue-doctor, queue-workers, gateways are created and upgraded in this order", () => {
    expect(waitsFor(":Deployment", "weir-queue-doctor-queue-doctor")).toContain(
      "kubernetes:apps/v1:StatefulSet::weir-nats-nats",
    );
    const worker = "weir-queue-workers-queue-worker-reports";
    expect(waitsFor(":Deployment", worker)).toEqual(
      expect.arrayContaining([
        "kubernetes:apps/v1:Deployment::weir-operator-operator",
        "kubernetes:apps/v1:Deployment::weir-queue-doctor-queue-doctor",
      ]),
    );
    expect(waitsFor(":Deployment", "weir-gateway-gateway")).toContain(`kubernetes:apps/v1:Deployment::${worker}`);
    expect(waitsFor(":Service", "weir-gateway-gateway")).toContain(
      "kubernetes:apps/v1:Deployment::weir-gateway-gateway",
    );
  });

  test("everything in a namespace is created after it, and so removed before it", () => {
    const platform = "kubernetes:core/v1:Namespace::weir-namespaces-weir";
    const above = new Map(stack.resources.map((each) => [`${each.type}::${each.name}`, each.dependencies]));
    const waits = (key: string, seen = new Set<string>()): boolean =>
      (above.get(key) ?? []).some((one) => one === platform || (!seen.has(one) && waits(one, seen.add(one))));
    const inside = stack.resources
      .filter(isKubernetes)
      .filter(({ inputs }) => (inputs as KubernetesObject).metadata.namespace === "weir");
    for (const { type, name } of notEmpty(inside, "object in the namespace"))
      expect(waits(`${type}::${name}`), name).toBe(true);
  });
});

test("each part begins when the cluster reports the workloads before it as rolled out", async () => {
  class Passed extends pulumi.CustomResource {
    constructor(workload: pulumi.Resource, name: string) {
      super("test:index:Passed", name, {}, { dependsOn: workload });
    }
  }
  const limits = new Map<string, number>();
  const { resources } = await recordedStack(
    { edition: "enterprise", queues: { reports: {} }, gateway: { replicas: 2 } },
    {
      awaitRollouts: (workload, { metadata }, within) => {
        limits.set(metadata.name, within);
        return pulumi.output(new Passed(workload, metadata.name));
      },
    },
  );
  const passed = (type: string, name: string) =>
    resourceNamed(resources, type, name)
      .dependencies.filter((each) => each.startsWith("test:index:Passed::"))
      .map((each) => each.replace("test:index:Passed::", ""))
      .toSorted();
  expect(passed(":Deployment", "weir-operator-operator")).toEqual([]);
  expect(passed(":Deployment", "weir-queue-doctor-queue-doctor")).toEqual(["nats"]);
  for (const worker of ["queue-worker", "queue-worker-reports"])
    expect(passed(":Deployment", `weir-queue-workers-${worker}`)).toEqual(["operator", "queue-doctor"]);
  const workers = ["operator", "queue-doctor", "queue-worker", "queue-worker-reports"];
  expect(passed(":Deployment", "weir-gateway-gateway")).toEqual(workers);
  expect(passed(":Service", "weir-gateway-gateway")).toEqual(["gateway", ...workers]);
  expect(Object.fromEntries(limits)).toMatchObject({ nats: 600_000, operator: 180_000, autoscaler: 180_000 });
});
