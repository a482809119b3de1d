import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

const root = join(import.meta.dirname, "..", "..", "..");
/** Files for people, and those that print something to them. */
const folders = [
  "README.md",
  "SECURITY.md",
  "CONTRIBUTING.md",
  "docs",
  "runtime",
  "scripts",
  "examples",
  "infra",
  ".github",
];
/** An own name that npm would look up in the public registry, where it is not ours; a path or a file of it is none. */
const byName =
  /(?:npm +(?:i|install|add|exec|x|update|up|view)\b|npx\b|pnpm +(?:add|dlx)\b|yarn +(?:add|dlx)\b)(?: +-\S+| +--prefix +\S+)* +["'`]?(weir(?:-[a-z]+)*)(?![-\w./])/g;
const page = /npmjs\.com\/package\/weir\S*/g;

test("nothing tells people to install a package of ours by a name that is not ours", () => {
  const files = execFileSync("git", ["ls-files", "-z", "--", ...folders], { cwd: root, encoding: "utf8" })
    .split("\0")
    .filter((file) => /\.(?:md|ts|tsx|js|json|txt|html|ya?ml|sh)$/.test(file));
  expect(files.length).toBeGreaterThan(1_000);
  const found = files.flatMap((file) => {
    const text = readFileSync(join(root, file), "utf8");
    return [...text.matchAll(byName), ...text.matchAll(page)].map(([hit]) => `${file}: ${hit}`);
  });
  expect(found).toEqual([]);
});

test.each([
  ["npm install --global weir-cli", true],
  ["npm i weir", true],
  ["npx weir-cli init", true],
  ["npm install `weir-platform`", true],
  ["npm install --prefix x --no-audit weir-platform\n", true],
  ["npm install --global ./weir-cli-0.1.0.tgz", false],
  ["npm install weir-0.1.0.tgz", false],
  ["npm install /a/weir-cli-0.1.0.tgz", false],
  ["npm install", false],
])("%j is found: %s", (text, isFound) => {
  expect([...text.matchAll(byName)].length > 0).toBe(isFound);
});
