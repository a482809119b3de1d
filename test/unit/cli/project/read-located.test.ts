import { describe, expect, test } from "vitest";

import { plainValue, type Located } from "../../../../runtime/cli/project/located.ts";
import { readLocated } from "../../../../runtime/cli/project/read-located.ts";

function sentences(text: string): readonly string[] {
  return readLocated(text).problems.map(({ at, sentence }) => `${at}: ${sentence}`);
}

function valueOf(text: string): unknown {
  const { root, problems } = readLocated(text);
  expect(problems).toEqual([]);
  return root === undefined ? undefined : plainValue(root);
}

/** Every scalar as it stands at its offset. */
function writtenIn(text: string, located: Located | undefined): readonly string[] {
  if (located === undefined) return [];
  switch (located.kind) {
    case "scalar":
      return [text.slice(located.at, located.at + located.source.length)];
    case "list":
      return located.items.flatMap((item) => writtenIn(text, item));
    case "map":
      return [...located.entries].flatMap(([key, { keyAt, value }]) => [
        text.slice(keyAt, keyAt + key.length),
        ...writtenIn(text, value),
      ]);
    default:
      return located satisfies never;
  }
}

describe("readLocated()", () => {
  test("reads values by the core schema, with where they stand", () => {
    const text = "\n# comment\na: 1.10\nb:\n  - x\n  - {c: true, d: null}\n";
    expect(valueOf(text)).toEqual({ a: 1.1, b: ["x", { c: true, d: null }] });
    expect(writtenIn(text, readLocated(text).root)).toEqual(["a", "1.10", "b", "x", "c", "true", "d", "null"]);
  });

  test("takes keys as they are written", () => {
    expect(valueOf("{1e3: a, true: b, null: c, 007: d, 'q': e, ~: f}")).toEqual({
      "1e3": "a",
      true: "b",
      null: "c",
      "007": "d",
      q: "e",
      "~": "f",
    });
  });

  test("copies what an alias names", () => {
    expect(valueOf("a: &x {b: [1]}\nc: *x\nd: [*x, *x]")).toEqual({
      a: { b: [1] },
      c: { b: [1] },
      d: [{ b: [1] }, { b: [1] }],
    });
  });

  test.each([
    ["nothing", ""],
    ["a comment", "# x\n"],
  ])("%s has no value", (_name, text) => {
    expect(readLocated(text)).toEqual({ root: undefined, wellFormed: true, problems: [] });
  });

  test.each([
    ["a key twice", "a: 1\nb: {c: 1, c: 2}", ["15: Cannot read b.c: it comes twice"]],
    [
      "keys of prototypes",
      "__proto__: 1\na: [{constructor: 1}]",
      [
        '0: Cannot read the file: key "__proto__" is not allowed',
        '18: Cannot read a[0]: key "constructor" is not allowed',
      ],
    ],
    ["a key that is a list", "a:\n  ? [b]\n  : 1", ["7: Cannot read a: a key is not a text"]],
    ["a key that is empty", "a: {: 1}", ["4: Cannot read a: a key is not a text"]],
    ["a key that is an alias", "a: &x b\nc: {*x : 1}", ["12: Cannot read c: a key is not a text"]],
    ["a tag", "a: !mine x", ["3: Cannot read the file: it is not YAML: Unresolved tag: !mine"]],
    [
      "a tag of another schema",
      "a: !!binary aGk=",
      ["3: Cannot read the file: it is not YAML: Unresolved tag: tag:yaml.org,2002:binary"],
    ],
    ["a directive", "%YAML 1.1\n---\na: 1", ["0: Cannot read the file: it has a YAML directive"]],
    ["two documents", "a: 1\n---\nb: 2", ["5: Cannot read the file: it holds more than one document"]],
    [
      "several syntax errors",
      "a: [\nb: ]\nc: {d\n",
      [
        "5: Cannot read the file: it is not YAML: Flow sequence in block collection must be sufficiently indented and end with a ]",
      ],
    ],
    ["an alias of nothing", "a: *x", ['3: Cannot read the file: alias "x" names nothing before it']],
    ["an alias within its own anchor", "&a [*a]", ['4: Cannot read the file: alias "a" names nothing before it']],
  ])("%s is refused", (_name, text, expected) => {
    expect(sentences(text)).toEqual(expected);
  });

  test.each([
    ["33 levels", "[".repeat(33) + "]".repeat(33), "nested deeper than 32 levels"],
    ["depth that would overflow the stack", "[".repeat(200_000), "nested deeper than 32 levels"],
    ["depth of explicit keys", "? ".repeat(100_000), "nested deeper than 32 levels"],
    ["33 levels by an alias", `a: &a ${"[".repeat(31)}x${"]".repeat(31)}\nb: [*a]`, "nested deeper than 32 levels"],
    ["101 aliases", `a: &a x\nb: [${"*a,".repeat(101)}]`, "more than 100 aliases"],
    ["a billion laughs", laughs(), "more than 100 aliases"],
    [
      "99 copies of a list",
      `a: &a [${"x,".repeat(1_000)}]\nb: [${"*a,".repeat(99)}]`,
      "its aliases make more than 50000 values",
    ],
    ["50001 tokens", `[${"a,".repeat(25_000)}]`, "more than 50000 tokens"],
    ["a line of directives", "%a b\n".repeat(50_000), "YAML directive"],
  ])("%s are refused within 300 ms", (_name, text, sentence) => {
    const before = process.cpuUsage();
    const { root, wellFormed, problems } = readLocated(text);
    expect(process.cpuUsage(before).user).toBeLessThan(300_000);
    expect(root).toBeUndefined();
    expect(wellFormed).toBe(false);
    expect(problems).toHaveLength(1);
    expect(problems[0]?.sentence).toContain(sentence);
  });

  test.each([
    ["a long text", "a".repeat(262_144)],
    ["comments", "#\n".repeat(24_000)],
    ["a folded block", `a: >\n${" a\n\n".repeat(65_000)}`],
    ["many keys", Array.from({ length: 6_000 }, (_, index) => `k${index}: v\n`).join("")],
    ["quotes", `a: '${"''".repeat(131_000)}'`],
  ])("%s of 256 KiB is read within 300 ms", (_name, text) => {
    const before = process.cpuUsage();
    expect(readLocated(text).problems).toEqual([]);
    expect(process.cpuUsage(before).user).toBeLessThan(300_000);
  });

  test("32 levels are read", () => {
    expect(JSON.stringify(valueOf("[".repeat(32) + "]".repeat(32)))).toBe("[".repeat(32) + "]".repeat(32));
  });

  test("of a text that is not YAML, what stands before is still known", () => {
    const { root, wellFormed } = readLocated("gateway: https://a.example\nfunctions: [\n");
    expect(wellFormed).toBe(false);
    expect(root === undefined ? undefined : plainValue(root)).toMatchObject({ gateway: "https://a.example" });
  });
});

/** Each list holds the one before ten times. */
function laughs(): string {
  const lines = ["a0: &a0 x"];
  for (let level = 1; level <= 9; level += 1)
    lines.push(`a${level}: &a${level} [${Array.from({ length: 10 }, () => `*a${level - 1}`).join(", ")}]`);
  return lines.join("\n");
}
