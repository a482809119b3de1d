import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";

import { describe, expect, test } from "vitest";

import { platformManifests } from "../../../infra/manifests/platform-manifests.ts";
import { readPlatform } from "../../../infra/manifests/read-platform.ts";
import { neededSecretNames } from "../../../infra/manifests/secrets.ts";
import { accounts } from "../../../runtime/api/accounts.ts";
import { commandBlocks } from "../../support/markdown-blocks.ts";

const root = join(import.meta.dirname, "..", "..", "..");
const file = join(root, "docs", "kubernetes.md");
const page = readFileSync(file, "utf8");
const { scripts }: { scripts: Readonly<Record<string, string>> } = JSON.parse(
  readFileSync(join(root, "package.json"), "utf8"),
);
const section = (title: string): string => page.split(`\n## ${title}\n`)[1]?.split("\n## ")[0] ?? "";
const rows = (text: string): string[] => [...text.matchAll(/^\| `([^`]+)` /gm)].map((row) => row[1] ?? "");

describe("docs/kubernetes.md", () => {
  const platform = readPlatform({ nats: { tls: false } });

  test("has every part of the platform in a row", () => {
    const parts = platformManifests(platform).map(({ name }) => name);
    expect(new Set(rows(section("What is created")))).toEqual(new Set(parts));
  });

  test("has every account in a row", () => {
    expect(new Set(rows(section("Rights")))).toEqual(new Set(Object.values(accounts)));
  });

  test("names the Secrets as they are asked for", () => {
    expect(page).toContain(`Secrets that must be there: ${neededSecretNames(platform).join(", ")}\n`);
  });

  test("links to what is there", () => {
    const links = [...page.matchAll(/\]\((?!https?:)([^)#]+)[^)]*\)/g)].map((link) => link[1] ?? "");
    expect(links).not.toEqual([]);
    expect(links.filter((link) => !existsSync(join(dirname(file), link)))).toEqual([]);
  });

  test("runs scripts that are there", () => {
    const lines = commandBlocks(page).flatMap(({ commands }) => commands.split("\n"));
    const run = lines.flatMap((line) => /npm run (?:--silent )?(\S+)/.exec(line)?.[1] ?? []);
    expect(run).not.toEqual([]);
    for (const script of run) expect(scripts).toHaveProperty([script]);
  });
});
