import fc from "fast-check";
import { expect, test } from "vitest";

import { parseClaims } from "../../../../runtime/console/pages/access/parse-claims.ts";
import { parseHeaderLines } from "../../../../runtime/console/pages/calls/one/header-lines.ts";
import { formatPairLines, parsePairLines } from "../../../../runtime/console/pages/namespaces/pair-lines.ts";

test.each([
  ["", []],
  ["\n \r\n", []],
  [
    "X-Name: a: b \t\r\nY:",
    [
      ["X-Name", "a: b"],
      ["Y", ""],
    ],
  ],
  [
    "x: 1\nx: 2",
    [
      ["x", "1"],
      ["x", "2"],
    ],
  ],
])("headers %j", (text, pairs) => {
  expect(parseHeaderLines(text)).toEqual({ kind: "headers", pairs });
});

test.each([
  ["no colon", 1],
  ["a: 1\n\nwith space: x", 3],
  [": nothing", 1],
  [" a: 1", 1],
])("%j is no header in line %i", (text, line) => {
  expect(parseHeaderLines(text)).toEqual({
    kind: "unreadable",
    sentence: `Line ${line} is no header: write Name: value`,
  });
});

test("pairs come back as they were written", () => {
  const word = fc.stringMatching(/^[-a-z./]{1,20}$/);
  const value = fc.stringMatching(/^[-a-z=./ ]{0,20}$/).map((text) => text.trim());
  fc.assert(
    fc.property(fc.dictionary(word, value), (pairs) => {
      expect(parsePairLines(formatPairLines(pairs))).toEqual({ kind: "pairs", pairs: { ...pairs } });
    }),
  );
});

test.each([
  ["team=blue\nno pair", 2],
  ["=value", 1],
])("%j is no pair in line %i", (text, line) => {
  expect(parsePairLines(text)).toEqual({ kind: "unreadable", sentence: `Line ${line} is no pair: write key=value` });
});

test("claims are a JSON object", () => {
  expect(parseClaims('{"sub":"alice"}')).toEqual({ kind: "claims", claims: { sub: "alice" } });
  for (const text of ["[]", "null", '"alice"', "1"])
    expect(parseClaims(text)).toEqual({ kind: "unreadable", sentence: "Claims are a JSON object" });
  expect(parseClaims("{")).toMatchObject({ sentence: expect.stringMatching(/^This is no JSON: /) as string });
});
