import fc from "fast-check";
import { expect, test } from "vitest";
import { stringify } from "yaml";

import { parseYaml } from "../../../runtime/api/yaml-document.ts";

const parse = (text: string): unknown => parseYaml(Buffer.from(text));

test("parseYaml() reads the YAML of a settings file", () => {
  expect(JSON.stringify(parse("port: 8080\nhosts: [a, 'b']\nqueues:\n  slow: {timeout: 5m}\n# the end\n"))).toBe(
    '{"port":8080,"hosts":["a","b"],"queues":{"slow":{"timeout":"5m"}}}',
  );
  expect(parse("")).toBeNull();
  expect(parse("a: &x [1]\nb: *x")).toEqual({ a: [1], b: [1] });
  expect(Object.getPrototypeOf(parse("a: 1"))).toBeNull();
});

test.each([
  ["a key twice", "a: 1\nb: 2\na: 3", 'key "a" comes twice'],
  ["__proto__", "a: {__proto__: {x: 1}}", 'key "__proto__" is not allowed'],
  ["constructor", "constructor: 1", 'key "constructor" is not allowed'],
  ["a key that is a list", "[a]: 1", "a key is not a text"],
  ["a custom tag", "a: 1\nb: !mine x", "line 2 is not YAML of the core schema"],
  ["a tag of another schema", "!!binary aGk=", "line 1 is not YAML of the core schema"],
  ["two documents", "a: 1\n---\nb: 2", "more than one document"],
  ["broken YAML", "a: 1\nb: [", "line 2 is not YAML"],
  ["33 levels", "[".repeat(33) + "]".repeat(33), "nested deeper than 32 levels"],
  ["33 levels by an alias", `a: &a ${"[".repeat(31)}x${"]".repeat(31)}\nb: [*a]`, "nested deeper than 32 levels"],
  ["33 levels of keys", Array.from({ length: 33 }, (_, level) => `${" ".repeat(level)}a:`).join("\n"), "nested deeper"],
  ["depth that would overflow the stack", "[".repeat(60_000), "nested deeper than 32 levels"],
  ["depth that took minutes", "? ".repeat(30_000), "nested deeper than 32 levels"],
  ["more than 10 aliases", `a: &a x\nb: [${"*a,".repeat(11)}]`, "more than 10 aliases"],
  ["an alias within its own anchor", "&a [*a]", 'alias "a" names nothing before it'],
  ["too many items", `[${"a,".repeat(6_000)}]`, "more than 10000 tokens"],
  ["more than 64 KiB", "a".repeat(65_537), "over the limit of 65536 bytes"],
])("%s is refused", (_name, text, sentence) => {
  expect(() => parse(text)).toThrow(sentence);
});

test("bytes that are not UTF-8 are refused", () => {
  expect(() => parseYaml(Uint8Array.of(0x61, 0xff))).toThrow("utf-8");
});

test("32 levels are read", () => {
  expect(JSON.stringify(parse("[".repeat(32) + "]".repeat(32)))).toBe("[".repeat(32) + "]".repeat(32));
});

test("data that a YAML writer wrote is read back as the same data", () => {
  const key = fc.stringMatching(/^[a-z_][a-z0-9_ :#-]{0,12}$/).filter((name) => name !== "constructor");
  const scalar = fc.oneof(fc.string({ unit: "grapheme" }), fc.integer(), fc.boolean(), fc.constant(null));
  const { data } = fc.letrec((tie) => ({
    data: fc.oneof({ depthSize: "small" }, scalar, fc.array(tie("data")), fc.dictionary(key, tie("data"))),
  }));
  fc.assert(
    fc.property(data, (value) => {
      expect(JSON.stringify(parse(stringify(value, { aliasDuplicateObjects: false })))).toBe(JSON.stringify(value));
    }),
  );
});
