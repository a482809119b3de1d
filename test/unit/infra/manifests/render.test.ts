import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

import { expect, test } from "vitest";
import { parseAllDocuments } from "yaml";

import { platformManifests } from "../../../../infra/manifests/platform-manifests.ts";
import { readPlatform } from "../../../../infra/manifests/read-platform.ts";
import { manifestsText } from "../../../../scripts/render/manifests-text.ts";
import { sampleStack } from "../../../support/engine-stack.ts";
import { tempDirectory } from "../../../support/temp-directory.ts";

const root = fileURLToPath(new URL("../../../../", import.meta.url));
const render = (...args: readonly string[]) =>
  promisify(execFile)(process.execPath, ["scripts/render/main.ts", ...args], { cwd: root });

test.each(["1.1", "1.2"] as const)("the output is read as intended by readers of YAML %s", (version) => {
  const ingress = { host: "a.example", className: "nginx", annotations: { off: "on", time: "12:30", none: "null" } };
  const parts = platformManifests(readPlatform({ edition: "enterprise", nats: { replicas: 3 }, ingress }));
  const read = parseAllDocuments(manifestsText(parts), { version }).map((document): unknown => document.toJS());
  const meant: unknown = JSON.parse(JSON.stringify(parts.flatMap(({ objects }) => objects)));
  expect(read.filter((object) => object !== null)).toEqual(meant);
});

test("npm run render prints the requested parts, and lists the required Secrets", async () => {
  const { stdout } = await render("--edition", "pro", "--platform-namespace", "faas", "--part", "namespaces");
  expect(
    parseAllDocuments(stdout).map((document) => (document.toJS() as { readonly kind?: string } | null)?.kind),
  ).toEqual(expect.arrayContaining(["Namespace", "Namespace"]));
  expect(stdout).toContain("name: faas");
  expect((await render("--no-nats-tls")).stderr).toContain(
    "Secrets that must be there: basic-auth, invoke-key, nats-gateway, nats-queue-worker,",
  );
  await expect(render("--edition", "gold")).rejects.toMatchObject({
    code: 1,
    stderr: expect.stringContaining("edition: expected one of community, standard, pro, enterprise"),
  });
});

test.each(["community", "standard", "pro", "enterprise"])("the sample stack %s is rendered", async (edition) => {
  const { stdout, stderr } = await render("--stack", sampleStack(edition));
  const objects = parseAllDocuments(stdout).map((document) => document.toJS() as { readonly kind: string } | null);
  const kinds = objects.flatMap((object) => (object === null ? [] : [object.kind]));
  expect(kinds).toEqual(expect.arrayContaining(["Namespace", "CustomResourceDefinition", "StatefulSet", "Deployment"]));
  expect(kinds.includes("Ingress")).toBe(edition === "standard");
  const secrets = objects.filter((object) => object?.kind === "Secret");
  // The operator fills it.
  expect(secrets).toEqual([
    expect.objectContaining({ metadata: expect.objectContaining({ name: "callback-secrets" }) }),
  ]);
  expect(JSON.stringify(secrets)).not.toMatch(/"(?:d|stringD)ata"/);
  expect(stderr).toContain("Secrets that must be there: basic-auth");
});

test("an invalid stack is reported in full, with the values that only Pulumi can read", async () => {
  await using directory = await tempDirectory("stack");
  const file = join(directory.path, "Pulumi.mine.yaml");
  await writeFile(
    file,
    "config:\n  weir:edition: gold\n  weir:editon: pro\n  weir:adminPassword:\n    secure: AAAA\n  aws:region: eu\n",
  );
  await expect(render("--stack", file)).rejects.toMatchObject({
    code: 1,
    stderr: expect.stringMatching(
      /weir:editon: no such option; did you mean edition\?[^]*weir:edition: expected one of/,
    ),
  });
  await writeFile(file, "config:\n  weir:adminPassword:\n    secure: AAAA\n");
  expect((await render("--stack", file, "--part", "namespaces")).stderr).toContain(
    "Encrypted in the stack, and not read: weir:adminPassword",
  );
  const tls = `    certificate: "-----BEGIN CERTIFICATE-----"\n    authority: "-----BEGIN CERTIFICATE-----"\n`;
  await writeFile(file, `config:\n  weir:natsTls:\n${tls}    key:\n      secure: AAAA\n`);
  expect((await render("--stack", file, "--part", "namespaces")).stderr).toContain("not read: weir:natsTls.key");
  const broker =
    "  weir:nats:\n    url: tls://b.example.com:4222\n  weir:natsTls:\n    authority: -----BEGIN CERTIFICATE-----\n";
  await writeFile(file, `config:\n${broker}  weir:natsPasswords:\n    secure: AAAA\n`);
  expect((await render("--stack", file, "--part", "namespaces")).stderr).toContain("not read: weir:natsPasswords");
  await writeFile(file, `config:\n  weir:natsTls:\n${tls}    key: "-----BEGIN PRIVATE KEY-----"\n`);
  await expect(render("--stack", file)).rejects.toMatchObject({
    stderr: expect.stringContaining(
      "weir:natsTls.key: expected it encrypted: pulumi config set --secret --path weir:natsTls.key < tls.key",
    ),
  });
  await expect(render("--stack", file, "--settings", file)).rejects.toMatchObject({ code: 1 });
});
