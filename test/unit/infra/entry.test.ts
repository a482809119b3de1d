import { writeFile } from "node:fs/promises";
import { join } from "node:path";

import * as pulumi from "@pulumi/pulumi";
import { expect, test } from "vitest";

import { tempDirectory } from "../../support/temp-directory.ts";
import { recordResources, resourceNamed, settled } from "../../support/pulumi-mocks.ts";

/** Sets what `pulumi config` holds when the program starts. */
function configure(values: Readonly<Record<string, string>>, encrypted: readonly string[] = []): void {
  pulumi.runtime.setAllConfig(values, [...encrypted]);
}

test("an invalid stack reports all its errors, before anything is created", async () => {
  const recorder = await recordResources();
  configure({ "weir:edition": "huge", "weir:nats": '{"replicas":2}', "aws:region": "eu" });
  const failure = await import("../../../infra/index.ts").catch((err: unknown) => err);
  expect(pulumi.RunError.isInstance(failure)).toBe(true);
  expect((failure as Error).message.split("\n")).toEqual([
    "Cannot read the configuration of the stack:",
    '  weir:edition: expected one of community, standard, pro, enterprise, got "huge"',
    '  weir:nats.replicas: expected one of 1, 3, got "2"',
  ]);
  expect(await recorder.resources()).toEqual([]);
});

test("a secret in clear text is refused, with the command that encrypts it", async () => {
  const recorder = await recordResources();
  const { readConfig } = await import("../../../infra/config.ts");
  const users = ["gateway", "queue-worker", "history", "autoscaler", "queue-doctor"];
  const problemsOf = (encrypted: readonly string[]) => {
    configure(
      {
        "weir:kubeconfig": '{"users": []}',
        "weir:adminPassword": "twelve-letters",
        "weir:historyDatabase": "postgres://weir:word@db/calls",
        "weir:nats": '{"url":"tls://broker.example.com:4222"}',
        "weir:natsPasswords": JSON.stringify(Object.fromEntries(users.map((name) => [name, "0123456789abcdef"]))),
        "weir:natsTls": JSON.stringify({ authority: "-----BEGIN CERTIFICATE-----" }),
      },
      encrypted,
    );
    try {
      readConfig();
      return [];
    } catch (err) {
      return (err as Error).message.split("\n").slice(1);
    }
  };
  const command = "expected it encrypted: pulumi config set --secret";
  expect(problemsOf([])).toEqual([
    `  weir:kubeconfig: ${command} weir:kubeconfig < kubeconfig`,
    `  weir:adminPassword: ${command} weir:adminPassword`,
    `  weir:historyDatabase: ${command} weir:historyDatabase`,
    ...users.map((name) => `  weir:natsPasswords.${name}: ${command} --path weir:natsPasswords.${name}`),
  ]);
  expect(problemsOf(["weir:natsPasswords", "weir:kubeconfig"])).toEqual([
    `  weir:adminPassword: ${command} weir:adminPassword`,
    `  weir:historyDatabase: ${command} weir:historyDatabase`,
  ]);
  const all = ["weir:natsPasswords", "weir:kubeconfig", "weir:adminPassword", "weir:historyDatabase"];
  expect(problemsOf(all)).toEqual([]);
  const { kubeconfig, adminPassword, historyDatabase, natsPasswords } = readConfig();
  for (const secret of [kubeconfig, adminPassword, historyDatabase, ...Object.values(natsPasswords ?? {})])
    expect(await pulumi.isSecret(pulumi.output(secret))).toBe(true);
  expect(await recorder.resources()).toEqual([]);
});

test("a value in clear text beside an encrypted one of its group is refused, too", async () => {
  const recorder = await recordResources();
  const { readConfig } = await import("../../../infra/config.ts");
  await using project = await tempDirectory();
  const passwords = { gateway: "0123456789abcdef", autoscaler: "0123456789abcdef" };
  configure({ "weir:natsPasswords": JSON.stringify(passwords), "weir:natsTls": JSON.stringify({ key: "k" }) }, [
    "weir:natsPasswords",
    "weir:natsTls",
  ]);
  const clearTextProblems = async (file: string) => {
    await writeFile(join(project.path, "Pulumi.test.yaml"), file);
    try {
      readConfig(project.path);
      return [];
    } catch (err) {
      return (err as Error).message.split("\n").filter((line) => line.includes("--secret"));
    }
  };
  const command = "expected it encrypted: pulumi config set --secret --path";
  const partly = `config:
  weir:natsPasswords:
    gateway: { secure: v1:abc }
    autoscaler: 0123456789abcdef
  weir:natsTls:
    certificate: { secure: v1:abc }
    key: k
`;
  expect(await clearTextProblems(partly)).toEqual([
    `  weir:natsPasswords.autoscaler: ${command} weir:natsPasswords.autoscaler`,
    `  weir:natsTls.key: ${command} weir:natsTls.key < tls.key`,
  ]);
  const whole = "config:\n  weir:natsPasswords: { secure: v1:abc }\n  weir:natsTls: { key: { secure: v1:abc } }\n";
  expect(await clearTextProblems(whole)).toEqual([]);
  configure({ "weir:iam": JSON.stringify({ clientSecrets: { "corp.sso": "a", github: "b" } }) }, ["weir:iam"]);
  const clients = "config:\n  weir:iam:\n    clientSecrets:\n      corp.sso: a\n      github: { secure: v1:abc }\n";
  expect(await clearTextProblems(clients)).toEqual([
    `  weir:iam.clientSecrets.corp.sso: expected it encrypted: pulumi config set --secret --path 'weir:iam.clientSecrets["corp.sso"]'`,
  ]);
  expect(await clearTextProblems(clients.replace(": a", ": { secure: v1:abc }"))).toEqual([]);
  for (const secret of Object.values(readConfig(project.path).iam?.clientSecrets ?? {}))
    expect(await pulumi.isSecret(pulumi.output(secret))).toBe(true);
  expect(Object.keys(readConfig(project.path).iam?.clientSecrets ?? {})).toEqual(["corp.sso", "github"]);
  // The configuration may be elsewhere.
  expect(await clearTextProblems("config: {}\n")).toEqual([]);
  expect(await recorder.resources()).toEqual([]);
});

test("the program creates the platform of its stack, and exports what people need", async () => {
  // A preview makes no request to a cluster.
  const recorder = await recordResources({ preview: true });
  configure(
    {
      "weir:edition": "standard",
      "weir:installCrds": "false",
      "weir:adminPassword": "correct horse".replace(" ", "-"),
    },
    ["weir:adminPassword"],
  );
  const entry = "../../../infra/index.ts?again";
  const outputs = (await import(/* @vite-ignore */ entry)) as Readonly<Record<string, pulumi.Output<unknown>>>;
  const resources = await recorder.resources();
  expect(resourceNamed(resources, "weir:platform:Weir", "weir").parent).toBe("");
  expect(Object.keys(outputs).toSorted()).toEqual(
    [
      "adminPassword",
      "adminUser",
      "consoleUrl",
      "edition",
      "gatewayUrl",
      "portForward",
      "publicUrl",
      "queues",
    ].toSorted(),
  );
  const { adminPassword, edition } = outputs;
  if (adminPassword === undefined || edition === undefined) throw new Error("expected both outputs");
  expect(await settled(adminPassword)).toEqual({ value: "correct-horse", secret: true });
  expect(await settled(edition)).toEqual({ value: "standard", secret: false });
});
