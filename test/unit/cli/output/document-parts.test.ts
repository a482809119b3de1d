import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";

import { documentParts } from "../../../../runtime/cli/output/document-parts.ts";
import { anyCharacter } from "../../../support/any-character.ts";

async function parts(value: unknown, format: "json" | "yaml"): Promise<readonly string[]> {
  return Array.fromAsync(documentParts(value, format));
}

const text = async (value: unknown, format: "json" | "yaml"): Promise<string> => (await parts(value, format)).join("");

/** What a terminal would obey. */
const unsafe = /(?![\n\t])[\p{Cc}\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069]/u;
const texts = fc.string({ unit: anyCharacter, maxLength: 12 });
const hostile = fc.constantFrom(
  "\u001B[2J",
  "a\u009B31m",
  "\u202Egpj",
  "l\r\nm\n",
  "\u007F",
  "\\\u0085",
  '"\u2066',
  "# \u0000",
);
const values = fc.letrec((tie) => ({
  leaf: fc.oneof(texts, hostile, fc.integer(), fc.boolean(), fc.constant(null)),
  map: fc.dictionary(fc.oneof(texts, hostile), tie("value"), { maxKeys: 4, noNullPrototype: true }),
  value: fc.oneof({ maxDepth: 3 }, tie("leaf"), fc.array(tie("value"), { maxLength: 4 }), tie("map")),
})).value;

describe("JSON", () => {
  test("is one document with the same value, in the layout of JSON.stringify, and no terminal obeys it", async () => {
    await fc.assert(
      fc.asyncProperty(values, async (value) => {
        const written = await text(value, "json");
        expect(written).not.toMatch(unsafe);
        expect(JSON.parse(written)).toEqual(value);
        const plain = `${JSON.stringify(value, undefined, 2)}\n`;
        if (!unsafe.test(plain)) expect(written).toBe(plain);
      }),
    );
  });

  test.each<[unknown, string]>([
    [[], "[]\n"],
    [{}, "{}\n"],
    [null, "null\n"],
    [[1, { a: [2, []] }, []], '[\n  1,\n  {\n    "a": [\n      2,\n      []\n    ]\n  },\n  []\n]\n'],
  ])("of %j", async (value, expected) => {
    expect(await text(value, "json")).toBe(expected);
  });
});

describe("YAML", () => {
  test("is one document with the same value, and no terminal obeys it", async () => {
    await fc.assert(
      fc.asyncProperty(values, async (value) => {
        const written = await text(value, "yaml");
        expect(written).not.toMatch(unsafe);
        expect(parse(written)).toEqual(value);
      }),
    );
  });

  test.each(["yes", "no", "on", "y", "0777", "1_000", "12:30:45", "1e3", "~", "null", "=", "<<", "2026-01-31"])(
    "the text %j is a text by YAML 1.1, too",
    async (value) => {
      const written = await text([{ key: value, [value]: 1 }], "yaml");
      for (const version of ["1.1", "1.2"] as const)
        expect(parse(written, { version, merge: false })).toEqual([{ key: value, [value]: 1 }]);
    },
  );
});

test("each element of a list is a part of its own", async () => {
  const list = Array.from({ length: 1_000 }, (_, index) => ({ index }));
  for (const format of ["json", "yaml"] as const) {
    const written = await parts(list, format);
    expect(written.length).toBeGreaterThanOrEqual(list.length);
    expect(Math.max(...written.map(({ length }) => length))).toBeLessThan(40);
  }
});
