import { describe, expect, test } from "vitest";

import { watchRules } from "../../../../runtime/cli/dev/watch/watch-rules.ts";

describe("which paths count as a save", () => {
  const { counts } = watchRules("*.md\nbuild\n!build/kept.js\n");

  test.each([
    "server.js",
    "lib/reply.js",
    ".dockerignore",
    ".env",
    "4913.js",
    "a4913",
    "docs.git/a",
    "swp",
    "lib/.#dir/a.js",
    "build/kept.js",
  ])("%s does", (path) => {
    expect(counts(path)).toBe(true);
  });

  test.each([
    ".git/HEAD",
    "lib/.git/HEAD",
    ".weir/address",
    "node_modules/a/index.js",
    "lib/node_modules/a.js",
    "server.js~",
    "lib/server.js~",
    ".server.js.swp",
    ".server.js.swx",
    ".#server.js",
    "#server.js#",
    "4913",
    "lib/4913",
    "README.md",
    "build/other.js",
  ])("%s does not", (path) => {
    expect(counts(path)).toBe(false);
  });
});

describe("which directories are watched", () => {
  test("those that are left out only where a line takes something back in", () => {
    expect(watchRules("build\n").enters("build")).toBe(false);
    expect(watchRules("build\n!build/kept.js\n").enters("build")).toBe(true);
    expect(watchRules("").enters("lib")).toBe(true);
  });

  test.each([".git", ".weir", "node_modules", "lib/node_modules/a"])("never %s", (path) => {
    expect(watchRules("*\n!**/kept.js\n").enters(path)).toBe(false);
  });
});
