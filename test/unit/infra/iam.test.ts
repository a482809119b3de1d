import { createPrivateKey, createPublicKey } from "node:crypto";

import * as pulumi from "@pulumi/pulumi";
import { afterEach, describe, expect, test, vi } from "vitest";

import type { LiveSecret } from "../../../infra/rotation/live-secret.ts";
import type { PolicySpec } from "../../../runtime/api/resources/iam-resources.ts";
import { signingKey } from "../../support/manifest-platform.ts";
import { notEmpty } from "../../support/not-empty.ts";
import { recordResources, resourceNamed, type RegisteredResource } from "../../support/pulumi-mocks.ts";

const plain = { installCrds: false, awaitRollouts: false } as const;
const issuer = { iss: "https://issuer.example.com", aud: ["weir"] };
const statement: PolicySpec["statement"] = [{ sid: "a", effect: "Allow", action: ["Function:*"], resource: ["dev:*"] }];
const discovery = "https://kubernetes.default.svc";

async function recorder() {
  const { resources } = await recordResources();
  return { resources, weir: await import("../../../infra/exports.ts") };
}

const filesOf = (resources: readonly RegisteredResource[], secret: string) => {
  const { inputs } = resourceNamed(resources, ":Secret", `weir-credentials-${secret}`);
  const entries = Object.entries(inputs["data"] as Readonly<Record<string, string>>);
  return Object.fromEntries(entries.map(([file, text]) => [file, Buffer.from(text, "base64").toString()]));
};

describe("the keys that sign", () => {
  afterEach(() => void vi.restoreAllMocks());

  /** The resources of a platform whose cluster has these Secrets, and what the program warned of. */
  async function made(values: Readonly<Record<string, unknown>>, live: Readonly<Record<string, LiveSecret>> = {}) {
    const warn = vi.spyOn(pulumi.log, "warn").mockClear().mockResolvedValue(undefined);
    const { resources, weir } = await recorder();
    const read: string[] = [];
    void new weir.WeirPlatform("weir", {
      ...plain,
      ...values,
      readSecret: (namespace, name) => {
        read.push(`${namespace}/${name}`);
        return live[name];
      },
    });
    const recorded = await resources();
    return { resources: recorded, read, warnings: warn.mock.calls.map(([sentence]) => sentence) };
  }

  test("are EC P-256 for tokens and Ed25519 for callbacks, PKCS #8, in Secrets", async () => {
    const { resources, read, warnings } = await made({ edition: "enterprise" });
    const token = createPrivateKey(filesOf(resources, "issuer-key")["issuer-key.pem"] ?? "");
    expect(token.asymmetricKeyDetails).toEqual({ namedCurve: "prime256v1" });
    const files = filesOf(resources, "callback-key");
    expect(Object.keys(files).toSorted()).toEqual(["callback-key-public.pem", "callback-key.pem"]);
    expect(createPrivateKey(files["callback-key.pem"] ?? "").asymmetricKeyType).toBe("ed25519");
    expect(files["callback-key.pem"]).toMatch(/^-----BEGIN PRIVATE KEY-----/);
    expect(resourceNamed(resources, ":Secret", "weir-credentials-issuer-key").secretInputs).toEqual(["data"]);
    expect(read).toEqual(["weir/callback-key", "weir/issuer-key"]);
    expect(warnings).toEqual([]);
  });

  test("are for callbacks alone in an edition without identity and access", async () => {
    const { resources } = await made({ edition: "pro" });
    const secrets = resources.filter(({ type }) => type.endsWith(":Secret")).map(({ name }) => name);
    expect(secrets).toContain("weir-credentials-callback-key");
    expect(secrets).not.toContain("weir-credentials-issuer-key");
  });

  test("are others after a rotation, which keeps those that the cluster has as the ones before", async () => {
    const [issuerKey, callbackKey] = [signingKey("issuer-key"), signingKey("callback-key")];
    const live = {
      "issuer-key": { files: { "issuer-key.pem": issuerKey }, annotations: {} },
      "callback-key": { files: { "callback-key.pem": callbackKey }, annotations: {} },
    };
    const before = Date.now();
    const { resources, warnings } = await made({ rotation: "second" }, live);
    const keys = resources.filter(({ type, parent }) => type.endsWith(":PrivateKey") && parent.includes("SigningKey"));
    expect(keys.map(({ name }) => name)).toEqual([
      "weir-credentials-callback-key-second",
      "weir-credentials-issuer-key-second",
    ]);
    const tokens = filesOf(resources, "issuer-key");
    expect(tokens["issuer-key-previous.pem"]).toBe(issuerKey);
    expect(tokens["issuer-key.pem"]).not.toBe(issuerKey);
    expect(Date.parse(tokens["issuer-key-rotated"] ?? "")).toBeGreaterThanOrEqual(before);
    const callbacks = filesOf(resources, "callback-key");
    expect(callbacks["callback-key-previous.pem"]).toBe(callbackKey);
    expect(callbacks["callback-key-previous-public.pem"]).toBe(
      createPublicKey(callbackKey).export({ type: "spki", format: "pem" }),
    );
    expect(warnings).toEqual([]);
  });

  test("of which the one before last ends at once, which is said within a day", async () => {
    const files = (rotated: string) => ({
      "issuer-key": {
        files: {
          "issuer-key.pem": signingKey("issuer-key"),
          "issuer-key-previous.pem": signingKey("issuer-key"),
          "issuer-key-rotated": rotated,
        },
        annotations: {},
      },
    });
    const again = await made({ rotation: "third" }, files(new Date().toISOString()));
    expect(again.warnings).toEqual([
      "issuer-key: rotated again within 25 h; what the key before last signed is no longer valid",
    ]);
    expect((await made({ rotation: "third" }, files("2026-01-01T00:00:00.000Z"))).warnings).toEqual([]);
  });

  test("sign for an issuer: that another one ends all tokens is said", async () => {
    const issuerOf = (resources: readonly RegisteredResource[]) =>
      resourceNamed(resources, ":Secret", "weir-credentials-issuer-key").inputs["metadata"];
    const inside = "http://gateway.weir.svc.cluster.local.:8080";
    expect(issuerOf((await made({})).resources)).toMatchObject({ annotations: { "weir/issuer": inside } });
    const live = { "issuer-key": { files: {}, annotations: { "weir/issuer": inside } } };
    const { resources, warnings } = await made({ publicUrl: "https://f.example.com" }, live);
    expect(issuerOf(resources)).toMatchObject({ annotations: { "weir/issuer": "https://f.example.com" } });
    expect(warnings).toEqual([
      `publicUrl: all tokens issued so far end, as their issuer changes from ${inside} to https://f.example.com`,
    ]);
    expect((await made({}, live)).warnings).toEqual([]);
  });
});

describe("identity and access of a stack", () => {
  const iam = {
    issuers: { corp: { ...issuer, issInternal: discovery } },
    policies: { deploy: { statement } },
    roles: { ci: { policy: ["deploy"] } },
  };

  test("becomes objects after the operator; secrets of clients are in one Secret", async () => {
    const { resources, weir } = await recorder();
    const later = pulumi.output(Promise.resolve("s3cret"));
    void new weir.WeirPlatform("weir", { ...plain, iam: { ...iam, clientSecrets: { corp: later, github: "other" } } });
    const made = await resources();
    for (const [kind, name] of [
      ["JwtIssuer", "corp"],
      ["Policy", "deploy"],
      ["Role", "ci"],
    ] as const) {
      const object = resourceNamed(made, `iam.service.com/v1:${kind}`, `weir-iam-${name}`);
      expect(object).toMatchObject({ provider: "weir", parent: "weir:platform:IamRules::weir-iam" });
      expect(object.inputs["metadata"]).toMatchObject({ name, namespace: "weir" });
      expect(object.dependencies).toContain("kubernetes:apps/v1:Deployment::weir-operator-operator");
    }
    expect(resourceNamed(made, "iam.service.com/v1:Role", "weir-iam-ci").inputs["spec"]).toEqual(iam.roles.ci);
    expect(
      resourceNamed(made, ":ClusterRoleBinding", "weir-access-weir-gateway-issuer-discovery").inputs,
    ).toMatchObject({
      roleRef: { name: "system:service-account-issuer-discovery" },
    });
    expect(filesOf(made, "iam-clients")).toEqual({ corp: "s3cret", github: "other" });
    expect(resourceNamed(made, ":Secret", "weir-credentials-iam-clients").secretInputs).toEqual(["data"]);
  });

  test("is refused as a whole before anything is created", async () => {
    const { resources, weir } = await recorder();
    const roles = { ci: { policy: ["deplay"] } };
    expect(() => new weir.WeirPlatform("mine", { ...plain, iam: { ...iam, roles } })).toThrow(
      'Cannot make platform "mine":\n  iam.roles.ci: it names Policy "deplay", which does not exist, and grants the others only',
    );
    expect(() => new weir.WeirPlatform("mine", { ...plain, edition: "pro", iam })).toThrow(
      'Cannot make platform "mine":\n  edition: expected enterprise with iam, got "pro"',
    );
    expect(await resources()).toEqual([]);
  });
});

describe("components", () => {
  async function platform(values: Readonly<Record<string, unknown>> = {}) {
    const { resources, weir } = await recorder();
    return { resources, weir, platform: new weir.WeirPlatform("weir", { ...plain, ...values }) };
  }

  test("are an issuer, a policy and a role in the platform's namespace, made after the platform", async () => {
    const { resources, weir, platform: below } = await platform({ platformNamespace: "faas" });
    void new weir.JwtIssuer("corp", { platform: below, ...issuer, iss: pulumi.output(issuer.iss), tokenExpiry: "1h" });
    const deploy = new weir.Policy("deploy", { platform: below, policyName: "deployers", statement: statement });
    void new weir.Role("ci", {
      platform: below,
      policy: [deploy.policyName],
      principal: { "jwt:sub": ["a"] },
      mode: "report",
    });
    const made = await resources();
    const objects = notEmpty(
      made.filter(({ type }) => type.startsWith("kubernetes:iam.service.com/")),
      "object",
    );
    expect(objects.map(({ type, name, parent }) => [type.split(":").at(-1), name, parent])).toEqual([
      ["JwtIssuer", "corp", "weir:iam:JwtIssuer::corp"],
      ["Policy", "deploy", "weir:iam:Policy::deploy"],
      ["Role", "ci", "weir:iam:Role::ci"],
    ]);
    const [corp, policy, role] = objects;
    expect(corp?.inputs).toEqual({
      apiVersion: "iam.service.com/v1",
      kind: "JwtIssuer",
      metadata: { name: "corp", namespace: "faas" },
      spec: { ...issuer, tokenExpiry: "1h" },
    });
    expect(policy?.inputs).toMatchObject({ metadata: { name: "deployers" }, spec: { statement } });
    expect(role?.inputs["spec"]).toEqual({ policy: ["deployers"], principal: { "jwt:sub": ["a"] }, mode: "report" });
    for (const { name, provider, dependencies } of objects) {
      expect(provider, name).toBe("weir");
      expect(dependencies, name).toContain("kubernetes:apps/v1:Deployment::weir-operator-operator");
    }
    expect(role?.dependencies).toContain("kubernetes:iam.service.com/v1:Policy::deploy");
    expect(made.filter(({ name }) => name.includes("discovery"))).toEqual([]);
  });

  test("an issuer that is the cluster lets the gateway read its keys", async () => {
    const { resources, weir } = await recorder();
    void new weir.JwtIssuer("pods", { ...issuer, issInternal: discovery, platformNamespace: "faas" });
    expect(resourceNamed(await resources(), ":ClusterRoleBinding", "pods-discovery").inputs).toMatchObject({
      metadata: { name: "faas-pods-issuer-discovery" },
      subjects: [{ kind: "ServiceAccount", name: "gateway", namespace: "faas" }],
    });
  });

  test("are refused with the sentence of the schema, before anything is created", async () => {
    const { resources, weir } = await recorder();
    expect(() => new weir.JwtIssuer("corp", { ...issuer, iss: "issuer.example.com" })).toThrow(
      'Cannot make JwtIssuer "corp": field "iss" is "issuer.example.com": expected an address',
    );
    expect(() => new weir.Role("ci", { policy: [], roleName: "c i" })).toThrow('Cannot make Role "c i": ');
    expect(await resources()).toEqual([]);
  });

  test("are refused on a platform whose edition has no identity and access", async () => {
    const { resources, weir, platform: below } = await platform({ edition: "pro" });
    expect(() => new weir.Policy("deploy", { platform: below, statement: statement })).toThrow(
      'Cannot make Policy "deploy": the platform\'s edition has no identity and access; enterprise has',
    );
    await resources();
  });
});
