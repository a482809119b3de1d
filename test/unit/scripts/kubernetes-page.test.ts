import { execFile } from "node:child_process";
import { createPrivateKey, X509Certificate } from "node:crypto";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";

import { describe, expect, test } from "vitest";

import { checkConfig } from "../../../infra/check-config.ts";
import { natsHosts } from "../../../infra/manifests/broker/nats-addresses.ts";
import { bytesOfSize } from "../../../infra/manifests/sizes.ts";
import { platformManifests } from "../../../infra/manifests/platform-manifests.ts";
import { readPlatform } from "../../../infra/manifests/read-platform.ts";
import { neededSecretNames } from "../../../infra/manifests/secrets.ts";
import { accounts } from "../../../runtime/api/accounts.ts";
import { editionNames } from "../../../runtime/api/editions.ts";
import { defaultNamespaceSettings } from "../../../runtime/adapters/kubernetes/manifests/namespace-objects.ts";
import { platformRequests } from "../../../scripts/preflight/platform-requests.ts";
import { roomOf, roomText, sum } from "../../../scripts/preflight/pod-requests.ts";
import { readStackFile } from "../../../infra/stack-file.ts";
import { commandBlocks } from "../../support/markdown-blocks.ts";
import { tempDirectory } from "../../support/temp-directory.ts";

const root = join(import.meta.dirname, "..", "..", "..");
const read = (name: string): string => readFileSync(join(root, "docs", name), "utf8");
const install = read("install.md");
const { scripts }: { scripts: Readonly<Record<string, string>> } = JSON.parse(
  readFileSync(join(root, "package.json"), "utf8"),
);
/** Both pages: what is installed, and what exists then. */
const page = install + read("reference/kubernetes.md");
const section = (title: string): string => page.split(`\n## ${title}\n`)[1]?.split("\n## ")[0] ?? "";
/** The cells of the row that begins with this name. */
const cellsOf = (name: string): string[] =>
  (page.split("\n").find((line) => line.startsWith(`| \`${name}\``)) ?? "")
    .split("|")
    .slice(1, -1)
    .map((cell) => cell.trim());
const rows = (text: string): string[] => [...text.matchAll(/^\| `([^`]+)` /gm)].map((row) => row[1] ?? "");

describe("docs/install.md and docs/reference/kubernetes.md", () => {
  const platform = readPlatform({ nats: { tls: false } });

  test("has every part of the platform in a row", () => {
    const parts = platformManifests(platform).map(({ name }) => name);
    expect(new Set(rows(section("What is created")))).toEqual(new Set(parts));
  });

  test("has every account in a row", () => {
    expect(new Set(rows(section("Rights")))).toEqual(new Set(Object.values(accounts)));
  });

  test("states the requests of each sample stack", () => {
    for (const name of editionNames) {
      // The sample sorts before a stack that was made from it.
      const [sample = ""] = globSync(join(root, `Pulumi.${name}{.sample,}.yaml`)).toSorted();
      const { config } = checkConfig(readStackFile(sample).values);
      if (config === undefined) throw new Error(`Cannot read ${sample}`);
      const parts = platformManifests(config.platform);
      const { pods, disks } = platformRequests(parts.flatMap(({ objects }) => objects));
      const requests = roomText(sum(pods.map((pod) => pod.requests)));
      const { edition, nats, historyStorage } = config.platform;
      const servers = Array<number>(Number(nats.replicas)).fill(bytesOfSize(nats.storage));
      expect(disks).toEqual([...servers, bytesOfSize(historyStorage)]);
      const cells = [
        `\`${edition}\``,
        pods.length,
        requests,
        `${servers.length} × ${nats.storage}, 1 × ${historyStorage}`,
      ];
      expect(cellsOf(edition)).toEqual(cells.map(String));
    }
    const { requests } = defaultNamespaceSettings("weir");
    expect(page).toContain(`that names nothing asks for ${roomText(roomOf(requests))}`);
  });

  test("creates a certificate of the broker with every name it needs", async () => {
    await using directory = await tempDirectory("broker-certificate");
    const block = commandBlocks(section("The broker's certificate")).find(({ commands }) =>
      commands.includes("openssl"),
    );
    await promisify(execFile)("sh", ["-euc", block?.commands ?? ""], { cwd: directory.path });
    const made = (name: string) => readFileSync(join(directory.path, "nats-tls", name));
    const certificate = new X509Certificate(made("tls.crt"));
    const authority = new X509Certificate(made("ca.crt"));
    expect(certificate.checkPrivateKey(createPrivateKey(made("tls.key")))).toBe(true);
    expect(certificate.checkIssued(authority) && certificate.verify(authority.publicKey)).toBe(true);
    expect([authority.ca, certificate.ca]).toEqual([true, false]);
    const names = natsHosts(platform).map((name) => `DNS:${name}`);
    expect(certificate.subjectAltName?.split(", ").toSorted()).toEqual(names.toSorted());
    // TLS server and client, RFC 5280 section 4.2.1.12.
    expect(certificate.keyUsage).toEqual(["1.3.6.1.5.5.7.3.1", "1.3.6.1.5.5.7.3.2"]);
  });

  test("names the required Secrets", () => {
    expect(page).toContain(`Secrets that must be there: ${neededSecretNames(platform).join(", ")}\n`);
  });

  test("runs scripts that exist", () => {
    const lines = commandBlocks(page).flatMap(({ commands }) => commands.split("\n"));
    const run = lines.flatMap((line) => /npm run (?:--silent )?(\S+)/.exec(line)?.[1] ?? []);
    expect(run).not.toEqual([]);
    for (const script of run) expect(scripts).toHaveProperty([script]);
  });
});
