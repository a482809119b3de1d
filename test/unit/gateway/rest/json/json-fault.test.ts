import fc from "fast-check";
import { expect, test } from "vitest";

import { parseJsonBody } from "../../../../../runtime/gateway/rest/json/json-body.ts";
import { jsonFault } from "../../../../../runtime/gateway/rest/json/json-fault.ts";

test.each([
  ["{", 'line 1, column 2: expected a key in double quotes or "}", found the end'],
  ['{"service":"hello",}', 'line 1, column 20: expected a key in double quotes, found "}"'],
  ['{\n  "service": "hello"\n  "image": "b"\n}', 'line 3, column 3: expected "," or "}", found "\\""'],
  ["{'service':'hello'}", `line 1, column 2: expected a key in double quotes or "}", found "'"`],
  ["{service: 1}", 'line 1, column 2: expected a key in double quotes or "}", found "s"'],
  ['{"a":}', 'line 1, column 6: expected a value, found "}"'],
  ['{"a" 1}', 'line 1, column 6: expected ":", found "1"'],
  ['{"a":1:2}', 'line 1, column 7: expected "," or "}", found ":"'],
  ['{"a":True}', 'line 1, column 6: expected a value, found "T"'],
  ['{"a":nullx}', 'line 1, column 10: expected "," or "}", found "x"'],
  ["[1,]", 'line 1, column 4: expected a value, found "]"'],
  ["[1 2]", 'line 1, column 4: expected "," or "]", found "2"'],
  ["[}", 'line 1, column 2: expected a value or "]", found "}"'],
  ["[01]", 'line 1, column 3: expected "," or "]", found "1"'],
  ["[-]", 'line 1, column 2: expected a value or "]", found "-"'],
  ["{} {}", 'line 1, column 4: expected the end of the body, found "{"'],
  ['"no end', "line 1, column 8: expected the rest of a string in double quotes, found the end"],
  ['["a\n"]', 'line 1, column 4: expected the rest of a string in double quotes, found "\\n"'],
  ['["\\&"]', 'line 1, column 3: expected the rest of a string in double quotes, found "\\\\"'],
  ["hello", 'line 1, column 1: expected a value, found "h"'],
  ["\r\n\r\n😀", 'line 3, column 1: expected a value, found "😀"'],
])("%j: %s", (text, fault) => {
  expect(jsonFault(text)).toBe(`at ${fault}`);
  expect(() => parseJsonBody(Buffer.from(text))).toThrow(`Cannot read the body: it is not JSON at ${fault}`);
});

test("shows one character of a body that may hold a secret", () => {
  expect(jsonFault('{"name":"api-key","value":s3cret}')).toBe('at line 1, column 27: expected a value, found "s"');
});

test("long text is read up to its fault, whatever its form", () => {
  const long = "x".repeat(2_000_000);
  expect(jsonFault(`"${long}`)).toContain("column 2000002:");
  expect(jsonFault(`"${'\\"'.repeat(1_000_000)}`)).toContain("column 2000002:");
  expect(jsonFault("[".repeat(2_000_000))).toContain("column 2000001:");
});

test("changed JSON is either still JSON, or its fault is not before the change", () => {
  fc.assert(
    fc.property(fc.json(), fc.nat(), fc.constantFrom("", "}", "]", ",", ":", "x", '"', "\n"), (json, seed, sign) => {
      const at = seed % (json.length + 1);
      const text = json.slice(0, at) + sign;
      try {
        JSON.parse(text);
      } catch {
        const [, column = ""] = /^at line \d+, column (\d+): expected .+, found .+$/.exec(jsonFault(text)) ?? [];
        expect(Number(column)).toBeGreaterThan(0);
      }
    }),
  );
});
