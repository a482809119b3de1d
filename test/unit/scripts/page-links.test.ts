import { existsSync, globSync, readFileSync, statSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";

import { describe, expect, test } from "vitest";

import { markdownAnchors } from "../../support/markdown-anchors.ts";

const root = resolve(import.meta.dirname, "..", "..", "..");
const pages = globSync(["*.md", "docs/**/*.md", "infra/**/*.md", "examples/**/*.md"], {
  cwd: root,
  exclude: ["**/node_modules/**"],
}).toSorted();

const read = (page: string): string => readFileSync(join(root, page), "utf8");
const anchors = new Map(pages.map((page) => [page, markdownAnchors(read(page))]));

/** Links to files of the repository and to headings, without those in code. */
function linksOf(page: string): string[] {
  const prose = read(page)
    .replaceAll(/^```[^]*?^```$/gm, "")
    .replaceAll(/`[^`\n]*`/g, "code");
  return [...prose.matchAll(/\]\(([^)\s]+)\)/g)].flatMap(([, link = ""]) =>
    /^[a-z][a-z+.-]*:/.test(link) ? [] : [link],
  );
}

/** The fault of a link of `page`, or undefined. */
function faultOf(page: string, link: string): string | undefined {
  const [path = "", anchor] = link.split("#");
  const file = path === "" ? join(root, page) : join(root, dirname(page), path);
  if (!existsSync(file)) return `${link}: there is no such file`;
  if (anchor === undefined) return undefined;
  const target = relative(root, file);
  if (statSync(file).isDirectory() || anchors.get(target)?.has(anchor) !== true) return `${link}: no such heading`;
  return undefined;
}

describe("links of pages", () => {
  test.each(pages)("%s", (page) => {
    expect(linksOf(page).flatMap((link) => faultOf(page, link) ?? [])).toEqual([]);
  });

  test("a link to a missing file or heading is found", () => {
    expect(faultOf("README.md", "docs/nowhere.md")).toBe("docs/nowhere.md: there is no such file");
    expect(faultOf("README.md", "docs/scaling.md#nowhere")).toBe("docs/scaling.md#nowhere: no such heading");
    expect(faultOf("README.md", "docs/scaling.md#the-rule")).toBeUndefined();
  });
});

test("every page of docs is linked from another page", () => {
  const linked = new Set(
    pages.flatMap((page) => linksOf(page).map((link) => join(dirname(page), link.split("#")[0] ?? ""))),
  );
  expect(pages.filter((page) => page.startsWith("docs/") && !linked.has(page))).toEqual([]);
});
