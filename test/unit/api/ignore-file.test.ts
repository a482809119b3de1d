import { describe, expect, test } from "vitest";

import { folderRules } from "../../../runtime/api/folders/folder-rules.ts";
import { parseIgnoreFile } from "../../../runtime/api/folders/ignore-file.ts";

describe("parseIgnoreFile()", () => {
  test.each<[pattern: string, ignored: readonly string[], kept: readonly string[]]>([
    ["node_modules", ["node_modules", "node_modules/a/b.js"], ["src/node_modules", "node_modules2", "a"]],
    ["/build/", ["build", "build/x"], ["src/build"]],
    ["./dist/./x", ["dist/x"], ["dist"]],
    ["*.log", ["a.log", ".log", "a.log/below"], ["src/a.log", "a.logs"]],
    ["*/temp*", ["src/temp", "src/temporary.txt"], ["temp", "a/b/temp"]],
    ["*/*/x", ["a/b/x"], ["a/x", "a/b/c/x"]],
    ["temp?", ["temp1", "tempa"], ["temp", "temp12", "temp/"]],
    ["**/*.go", ["a.go", "a/b/c.go"], ["a.goo"]],
    ["**/cache/**", ["cache/x", "a/cache/b/c"], ["cache2/x"]],
    ["a/**/b", ["a/b", "a/x/b", "a/x/y/b"], ["ab", "a/xb"]],
    ["**/**/**/x", ["x", "a/b/x"], ["y"]],
    ["[a-c].txt", ["a.txt", "c.txt"], ["d.txt", "ab.txt"]],
    ["[z-a].txt", ["[z-a].txt"], ["z.txt"]],
    [String.raw`a\*b`, ["a*b"], ["axb"]],
    ["a+b(c).{d}$", ["a+b(c).{d}$"], ["aab(c).{d}$"]],
    ["  spaced  ", ["spaced"], ["  spaced  "]],
    ["*", [".env", "a", "a/b"], []],
    ["# comment", [], ["# comment", "comment"]],
    ["", [], ["a"]],
    [".", [], ["a"]],
    ["/", [], ["a"]],
    ["!", [], ["a"]],
    ["../x", [], ["x"]],
  ])("%j", (pattern, ignored, kept) => {
    const { ignores } = parseIgnoreFile(pattern);
    expect(ignored.filter((path) => !ignores(path))).toEqual([]);
    expect(kept.filter((path) => ignores(path))).toEqual([]);
  });

  test("the last line that matches decides", () => {
    const rules = parseIgnoreFile("\uFEFF*\r\n!src\r\n!*.json\r\nsrc/secret\r\n");
    const paths = ["a", ".env", "src", "src/a.ts", "src/secret", "src/secret/x", "package.json", "x/package.json"];
    expect(paths.filter((path) => !rules.ignores(path))).toEqual(["src", "src/a.ts", "package.json"]);
    expect(rules.hasExceptions).toBe(true);
    expect(parseIgnoreFile("a\nb").hasExceptions).toBe(false);
  });

  test("lines after the first thousand do not count", () => {
    const { ignores } = parseIgnoreFile(Array.from({ length: 1_001 }, (_, line) => `f${line}`).join("\n"));
    expect([ignores("f999"), ignores("f1000")]).toEqual([true, false]);
  });
});

test("history and the data of a Weir are left out of a folder wherever they are, whatever its lines say", () => {
  const { ignores } = folderRules("!.git\n!.weir\nlogs");
  const paths = [".git", ".git/config", "sub/.git/x", ".weir", "a/.weir/credentials/x", "logs/x", ".gitignore", "weir"];
  expect(paths.filter((path) => !ignores(path))).toEqual([".gitignore", "weir"]);
});
