import { globSync, readFileSync } from "node:fs";
import { basename, join, resolve } from "node:path";

import { describe, expect, test } from "vitest";

import { citable, citationsIn, type Citation } from "../../support/citations.ts";

const root = resolve(import.meta.dirname, "..", "..", "..");
const read = (path: string): string => readFileSync(join(root, path), "utf8");

/** Pages whose rules, rows and sections are cited. */
const pages = new Map(
  globSync(["docs/reference/{http-contract,queue,faults,security,iam}.md", "docs/contributing/performance.md"], {
    cwd: root,
  }).map((path) => [basename(path), citable(read(path))]),
);
const ids = new Set([...pages.values()].flatMap((names) => [...names].filter((name) => !name.startsWith("§"))));

function isThere({ cited, page }: Citation): boolean {
  return cited.startsWith("§") ? pages.get(page ?? "")?.has(cited) === true : ids.has(cited);
}

const files = globSync(["{runtime,infra,test,scripts}/**/*.{ts,js,txt,yaml,sh,md}", "docs/**/*.md", "*.md"], {
  cwd: root,
  exclude: ["**/node_modules/**", "test/fuzz-corpus/**", "test/clients/**"],
}).filter((path) => path !== "CHANGELOG.md" && !/citations\b.*\.ts$/.test(path));

describe("citations", () => {
  test.each([
    ["by H7 and FW19, step W10", ["H7", "FW19", "W10"]],
    ["I1–I10, `S15`", ["I1", "I10", "S15"]],
    ["contract §1.7, §5.2 and `security.md` §2", ["http-contract.md §1.7", "http-contract.md §5.2", "security.md §2"]],
    ["RFC 9112 §3.2; (W3C Trace Context §3.2)", []],
    ["W3C, P256, h2, FW, X-P1, sha256-S3+/=", []],
    ["§4.1 of nothing", ["undefined §4.1"]],
  ])("in %s", (text, expected) => {
    const found = citationsIn(text).map(({ cited, ...rest }) => ("page" in rest ? `${rest.page} ${cited}` : cited));
    expect(found).toEqual(expected);
  });

  test("of missing rules are found", () => {
    expect(citationsIn("§1 of nothing, H99, contract §99, H7").map(isThere)).toEqual([false, true, false, false]);
  });

  test.each(files)("of %s lead to a rule, row or section", (path) => {
    const own = pages.has(basename(path)) ? basename(path) : undefined;
    const missing = citationsIn(read(path), own).filter((citation) => !isThere(citation));
    expect(missing.map(({ line, page, cited }) => `line ${line}: ${page ?? ""} ${cited}`)).toEqual([]);
  });
});

test("every row of faults has a test", () => {
  const titles = globSync("test/**/*.test.ts", { cwd: root }).map(read).join("\n");
  const rows = [...ids].filter((name) => /^F[A-Z]/.test(name));
  expect(rows.length).toBeGreaterThan(50);
  expect(rows.filter((row) => !new RegExp(`["\`(/: ]${row}[ :"\`),]`).test(titles))).toEqual([]);
});

test("every promise was measured", () => {
  const measured = read("docs/contributing/promises-measured.md");
  const promises = [...ids].filter((name) => /^S\d/.test(name));
  expect(promises).toHaveLength(19);
  expect(promises.filter((name) => !measured.includes(`\n## ${name} `))).toEqual([]);
});
