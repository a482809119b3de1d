import { globSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";

import { describe, expect, test } from "vitest";

const root = join(import.meta.dirname, "..", "..", "..");
const index = readFileSync(join(root, "docs/contributing/decisions.md"), "utf8");
const pages = globSync("docs/decisions/*.md", { cwd: root })
  .toSorted()
  .map((path) => ({ name: basename(path), text: readFileSync(join(root, path), "utf8") }));
const inForce = index.split("\n## Superseded\n")[0] ?? "";

describe.each(pages)("docs/decisions/$name", ({ name, text }) => {
  const title = /^# (?:\d+)\.? (.+)$/m.exec(text)?.[1] ?? "";
  const status = /^Status: (.+)$/m.exec(text)?.[1] ?? "";

  test("is in the index once, under its title", () => {
    expect(index.split(`[${name.slice(0, 4)}](../decisions/${name}) ${title}`)).toHaveLength(2);
  });

  test("says whether it is in force, and if not which one is", () => {
    expect(status).toMatch(/^(?:accepted|superseded by \[\d{4}\]\(\d{4}-[a-z0-9-]+\.md\))/);
    expect(inForce.includes(`../decisions/${name}) `)).toBe(status.startsWith("accepted"));
  });

  test("is named by what it supersedes", () => {
    for (const [, other = ""] of status.matchAll(/Supersedes [^.]*\[\d{4}\]\((\S+)\)/g)) {
      expect(pages.find((page) => page.name === other)?.text).toMatch(
        new RegExp(`^Status: .*superseded by .*${name}`, "m"),
      );
    }
  });
});
