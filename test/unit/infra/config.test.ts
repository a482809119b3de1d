import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { promisify } from "node:util";

import { describe, expect, test } from "vitest";
import { parse } from "yaml";

import { checkConfig } from "../../../infra/check-config.ts";
import { platformManifests } from "../../../infra/manifests/platform-manifests.ts";
import { editionNames } from "../../../runtime/api/editions.ts";
import { sampleStack } from "../../support/engine-stack.ts";

const file = async (name: string) =>
  parse(await readFile(new URL(`../../../${name}`, import.meta.url), "utf8")) as {
    readonly config: Readonly<Record<string, unknown>>;
  };
const problemsOf = (given: Readonly<Record<string, unknown>>) => checkConfig(given).problems;

/** A value as Pulumi passes it on from a file. */
const passedOn = (value: unknown) => (typeof value === "string" ? value : JSON.stringify(value));

test("the defaults in Pulumi.yaml equal those of the program", async () => {
  const { config } = await file("Pulumi.yaml");
  const defaults = Object.entries(config as Readonly<Record<string, { readonly default?: unknown }>>).map(
    ([key, declared]) => [key, passedOn(declared.default)] as const,
  );
  expect(defaults.filter(([, value]) => value === undefined)).toEqual([]);
  const declared = checkConfig(Object.fromEntries(defaults));
  expect(declared.problems).toEqual([]);
  const silent = checkConfig({});
  if (declared.config === undefined || silent.config === undefined) throw new Error("expected two configurations");
  expect(platformManifests(declared.config.platform)).toEqual(platformManifests(silent.config.platform));
  expect({ ...declared.config, platform: undefined }).toEqual({ ...silent.config, platform: undefined });
});

test.each(editionNames)("the sample stack of %s is valid", async (edition) => {
  const { config } = await file(sampleStack(edition));
  const values = Object.entries(config).map(([key, value]) => [key.replace(/^weir:/, ""), passedOn(value)] as const);
  const checked = checkConfig(Object.fromEntries(values));
  expect(checked.problems).toEqual([]);
  expect(checked.config?.platform.edition).toBe(edition);
});

test("no file of the repository has the name of a user's stack", async () => {
  const root = new URL("../../../", import.meta.url);
  const { stdout } = await promisify(execFile)("git", ["ls-files", "*Pulumi.*.yaml"], { cwd: root });
  const stacks = stdout.trim().split("\n");
  expect(stacks.length).toBeGreaterThan(4);
  expect(stacks.filter((name) => !name.endsWith(".sample.yaml"))).toEqual([]);
});

test("the configuration is immutable", () => {
  expect(Object.isFrozen(checkConfig({}).config)).toBe(true);
});

describe("problems", () => {
  test("are reported together, each with key, value and rule", () => {
    expect(
      problemsOf({
        edtion: "pro",
        adminPassword: "short",
        upstreamTimeout: "1y",
        gateway: '{"replica":2,"serviceType":"NodePort"}',
        ingress: { host: "f.example.com" },
        natsTls: { key: "x", certificat: "y" },
        installCrds: "perhaps",
        natsUrl: "nats://x:4222",
      }),
    ).toEqual([
      "edtion: no such option; did you mean edition?",
      "natsUrl: the platform decides it, it cannot be set",
      "gateway.replica: no such option; did you mean replicas?",
      'upstreamTimeout: expected a duration such as 30s or 1m30s, got "1y"',
      'installCrds: expected true or false, got "perhaps"',
      'adminPassword: expected 12 to 256 visible characters of ASCII, got "[secret]"',
      "natsTls.certificat: no such option; did you mean certificate?",
      'natsTls.key: expected PEM, from -----BEGIN to PRIVATE KEY-----, got "[secret]"',
      'gateway.serviceType: expected ClusterIP with ingress.host before it, as the gateway speaks HTTP without TLS; publicUrl: https://… where TLS ends in front of it; or allowPlainHttp: true; got "NodePort"',
      'ingress.host: expected ingress.tlsSecret or ingress.clusterIssuer with it, publicUrl: https://… where TLS ends in front of it, or allowPlainHttp: true; got "f.example.com" alone',
    ]);
  });

  test("a renamed key is reported with its new name", () => {
    expect(problemsOf({ callAge: "1h", bodySilence: "1s" })).toEqual([
      "callAge is now callMaxAge",
      "bodySilence is now bodyIdleTimeout",
    ]);
  });

  test("TLS may end in front of the gateway, if publicUrl says so", () => {
    const route = { host: "f.example.com", gateway: "public" };
    for (const outside of [
      { gateway: { serviceType: "LoadBalancer" } },
      { gateway: { serviceType: "NodePort" } },
      { ingress: { host: "f.example.com" } },
      { httpRoute: route },
    ]) {
      expect(problemsOf({ ...outside, publicUrl: "https://f.example.com" })).toEqual([]);
      expect(problemsOf({ ...outside, publicUrl: "http://f.example.com" })).toHaveLength(1);
      expect(problemsOf({ ...outside, allowPlainHttp: true })).toEqual([]);
    }
    expect(problemsOf({ httpRoute: route })).toEqual([
      `httpRoute.host: expected publicUrl: https://… with it, as TLS is the Gateway's, or allowPlainHttp: true; got "f.example.com" alone`,
    ]);
  });

  test("an option beyond the edition is reported with the edition that has it", () => {
    const [problem] = problemsOf({ edition: "pro", queues: { reports: {} } });
    expect(problem).toMatch(/queues.*enterprise/);
  });

  test("an external broker needs the passwords of its users, and its CA", () => {
    const url = { nats: { url: "tls://b.example.com:4222" } };
    expect(problemsOf({ ...url, natsPasswords: { gateway: "short" } })).toEqual([
      "natsTls: expected authority alone, as the broker of nats.url has its own certificate; got nothing",
      "natsPasswords: expected gateway, queue-worker, history, autoscaler, queue-doctor; got gateway",
      "natsPasswords.gateway: expected 16 letters, digits, - and _ or more",
    ]);
    expect(problemsOf({ natsPasswords: { gateway: "0123456789abcdef" } })).toEqual([
      "natsPasswords: expected nats.url with them, got gateway alone",
    ]);
  });

  test("the secret of a client at an issuer is not shown, and need not be readable", () => {
    const issuers = {
      corp: { iss: "https://f.example.com", aud: ["w"], login: { clientId: "w", clientSecretName: "corp.sso" } },
    };
    const { config, problems } = checkConfig(
      { iam: JSON.stringify({ issuers, clientSecrets: { github: "s3cret" } }) },
      { unread: ["iam.clientSecrets.corp.sso"] },
    );
    expect(problems).toEqual([]);
    expect(config?.platform.iam.clientSecrets).toEqual(["corp.sso", "github"]);
    expect(JSON.stringify(config)).not.toContain("s3cret");
    expect(problemsOf({ iam: { issuers } })).toHaveLength(1);
    expect(
      checkConfig({ iam: { clientSecrets: { "corp.sso": "s3cret" } } }, { isEncrypted: () => false }).problems,
    ).toEqual([
      `iam.clientSecrets.corp.sso: expected it encrypted: pulumi config set --secret --path 'weir:iam.clientSecrets["corp.sso"]'`,
    ]);
  });

  test("the database of the history is encrypted, and need not be readable", () => {
    const historyDatabase = "postgres://weir:s3cret@db.example.com/calls";
    expect(checkConfig({ historyDatabase }, { isEncrypted: () => false }).problems).toEqual([
      "historyDatabase: expected it encrypted: pulumi config set --secret weir:historyDatabase",
    ]);
    const readable = checkConfig({ historyDatabase }).config;
    expect(readable?.platform.historyDatabase).toEqual({ port: 5432 });
    expect(JSON.stringify(readable)).not.toContain("s3cret");
    const unread = checkConfig({}, { isEncrypted: () => false, unread: ["historyDatabase"] });
    expect(unread.problems).toEqual([]);
    expect(unread.config?.platform.historyDatabase).toEqual({ port: undefined });
    expect(problemsOf({ historyDatabase: "" })).toEqual([]);
    expect(problemsOf({ historyDatabase: "s3cret" })).toEqual([
      'historyDatabase: expected an address such as "postgres://weir:password@db.example.com:5432/weir", with special characters as %40, got "[secret]"',
    ]);
    const historyDatabaseAuthority = "-----BEGIN CERTIFICATE-----\nx\n-----END CERTIFICATE-----";
    expect(problemsOf({ historyDatabase, historyDatabaseAuthority })).toEqual([]);
    expect(problemsOf({ historyDatabaseAuthority })).toEqual([
      "historyDatabaseAuthority: expected historyDatabase with it, got none",
    ]);
  });

  test("a certificate must be complete, and needs TLS", () => {
    const certificate = "-----BEGIN CERTIFICATE-----";
    expect(problemsOf({ natsTls: { certificate } })).toEqual([
      "natsTls: expected certificate, key and authority, or none of them; got certificate alone",
    ]);
    expect(problemsOf({ natsTls: certificate })).toEqual(["natsTls: expected a mapping of options"]);
    expect(problemsOf({ nats: { tls: false }, natsTls: { certificate } })).toEqual([
      "natsTls: expected nats.tls with it, got certificate alone",
    ]);
  });
});
