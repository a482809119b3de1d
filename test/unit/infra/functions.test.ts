import * as pulumi from "@pulumi/pulumi";
import { expect, test } from "vitest";

import type { OpenObject } from "../../../infra/open-texts.ts";
import { recordResources, resourceNamed, settled } from "../../support/pulumi-mocks.ts";

/** For the provider's own waiting: it is all there is without a gate. */
const ownWaiting = '["condition=Ready","condition=Reconciling=False"]';

async function recorded(values: Readonly<Record<string, unknown>> = {}) {
  const recorder = await recordResources();
  const weir = await import("../../../infra/exports.ts");
  const platform = new weir.WeirPlatform("weir", { installCrds: false, awaitRollouts: false, ...values });
  return { recorder, weir, platform };
}

test("a function is a Function object in the platform's namespace, made after the platform and awaited", async () => {
  const { recorder, weir, platform } = await recorded({ functionNamespace: "fn" });
  const key = new weir.FunctionSecret("key", { platform, files: { token: "opaque-word" } });
  const hello = new weir.Function("hello", {
    platform,
    image: "hello:1",
    environment: { greeting: pulumi.output("hi") },
    labels: { "com.service.scale.max": "5" },
    secrets: [key.secretName],
  });
  const resources = await recorder.resources();

  const object = resourceNamed(resources, "service.com/v1:Function", "hello");
  expect(object.inputs).toEqual({
    apiVersion: "service.com/v1",
    kind: "Function",
    metadata: { name: "hello", namespace: "fn", annotations: { "pulumi.com/waitFor": ownWaiting } },
    spec: {
      image: "hello:1",
      environment: { greeting: "hi" },
      labels: { "com.service.scale.max": "5" },
      secrets: ["key"],
    },
  });
  expect(object).toMatchObject({ provider: "weir", parent: "weir:functions:Function::hello", createTimeout: "3m" });
  expect(object.dependencies).toEqual(
    expect.arrayContaining([
      "kubernetes:apps/v1:Deployment::weir-operator-operator",
      "kubernetes:core/v1:Service::weir-gateway-gateway",
      "kubernetes:core/v1:Secret::key",
    ]),
  );
  expect((await settled(hello.path)).value).toBe("/function/hello.fn");

  const secret = resourceNamed(resources, "core/v1:Secret", "key");
  expect(secret.secretInputs).toEqual(["data"]);
  expect(secret.inputs).toMatchObject({
    metadata: { name: "key", namespace: "fn", labels: { "app.kubernetes.io/managed-by": "weir" } },
    type: "Opaque",
    data: { token: Buffer.from("opaque-word").toString("base64") },
  });
});

test("the timeout of a function comes from its options", async () => {
  const { recorder, weir, platform } = await recorded();
  const customTimeouts = { create: "20m", update: "20m" };
  void new weir.Function("slow", { platform, image: "slow:1" }, { customTimeouts });
  const object = resourceNamed(await recorder.resources(), "service.com/v1:Function", "slow");
  expect(object.createTimeout).toBe("20m");
});

test("a function and a rule pass the gate of their platform before others come after them", async () => {
  const passed: (readonly [kind: string, name: string, within: number])[] = [];
  const { recorder, weir, platform } = await recorded({
    edition: "enterprise",
    awaitRollouts: (resource: pulumi.CustomResource, { kind, metadata }: OpenObject, within: number) => {
      passed.push([kind, metadata.name, within]);
      return resource;
    },
  });
  const before = passed.length;
  const hello = new weir.Function("hello", { platform, image: "hello:1" }, { customTimeouts: { create: "1m" } });
  void new weir.Function("quick", { platform, image: "hello:1", awaitReady: false });
  const statement = [{ sid: "a", effect: "Allow" as const, action: ["Function:*"], resource: ["dev:*"] }];
  void new weir.Policy("deploy", { platform, statement });
  const resources = await recorder.resources();
  const object = resourceNamed(resources, "service.com/v1:Function", "hello");
  // The provider itself waits for no pods: the gate stops when an image cannot be pulled.
  expect(resourceNamed(resources, ":Deployment", "weir-gateway-gateway").inputs).toMatchObject({
    metadata: { annotations: { "pulumi.com/waitFor": "condition=Progressing" } },
  });
  expect(passed.slice(before)).toEqual([
    ["Function", "hello", 60_000],
    ["Policy", "deploy", 60_000],
  ]);
  expect(object.inputs["metadata"]).toEqual({ name: "hello", namespace: "functions" });
  expect((await settled(hello.path)).value).toBe("/function/hello.functions");
});

test("a further namespace has the marker and the pod security level; its objects are created after it", async () => {
  const { recorder, weir, platform } = await recorded({ edition: "pro" });
  const dev = new weir.FunctionNamespace("dev", { platform, labels: { team: "blue" } });
  const hello = new weir.Function("hello", {
    platform,
    namespace: dev.namespaceName,
    functionName: "hey",
    image: "hello:1",
    awaitReady: false,
  });
  const resources = await recorder.resources();
  expect(resourceNamed(resources, "core/v1:Namespace", "dev").inputs).toMatchObject({
    metadata: {
      name: "dev",
      labels: { team: "blue", "com.service.namespace": "1", "pod-security.kubernetes.io/enforce": "restricted" },
    },
  });
  const object = resourceNamed(resources, "service.com/v1:Function", "hello");
  expect(object.inputs["metadata"]).toEqual({ name: "hey", namespace: "dev" });
  expect(object.dependencies).toContain("kubernetes:core/v1:Namespace::dev");
  expect((await settled(hello.path)).value).toBe("/function/hey.dev");
});

test("an edition with one namespace is an error before anything is created", async () => {
  const { recorder, weir, platform } = await recorded({ edition: "standard" });
  expect(() => new weir.FunctionNamespace("dev", { platform })).toThrow(
    'Cannot make namespace "dev": the platform\'s edition has one namespace; pro and enterprise have several',
  );
  await recorder.resources();
});
