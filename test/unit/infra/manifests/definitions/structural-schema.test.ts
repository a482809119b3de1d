import Type from "typebox";
import { describe, expect, test } from "vitest";

import { re2, structuralSchema } from "../../../../../infra/manifests/definitions/structural-schema.ts";
import { textMap } from "../../../../../runtime/api/schemas/text-map.ts";

describe("structuralSchema()", () => {
  test("keeps limits, formats and required fields, and drops what only documents show", () => {
    const schema = Type.Object(
      {
        name: Type.String({ maxLength: 5, pattern: "^a", examples: ["a"] }),
        list: Type.Optional(Type.Array(Type.Integer({ minimum: 1 }), { maxItems: 2, uniqueItems: true })),
      },
      { title: "Thing", description: "A thing" },
    );
    expect(structuralSchema(schema)).toEqual({
      type: "object",
      description: "A thing",
      required: ["name"],
      properties: {
        name: { type: "string", maxLength: 5, pattern: "^a" },
        list: {
          type: "array",
          maxItems: 2,
          items: { type: "integer", minimum: 1 },
          "x-kubernetes-list-type": "set",
        },
      },
    });
  });

  test("checks the keys of a map by CEL, before the map's own rules", () => {
    const map = {
      ...textMap({
        title: "Map",
        description: "m",
        keys: { pattern: "^[a'\\.]$", maxLength: 9 },
        values: { maxLength: 3 },
        maxProperties: 4,
        examples: [],
      }),
      "x-kubernetes-validations": [{ rule: "true", message: "fine" }],
    };
    expect(structuralSchema(map)).toEqual({
      type: "object",
      description: "m",
      maxProperties: 4,
      additionalProperties: { type: "string", maxLength: 3 },
      "x-kubernetes-validations": [
        { rule: "self.all(key, key.matches('^[a\\'\\\\.]$'))", message: "expected keys that match ^[a'\\.]$" },
        { rule: "self.all(key, size(key) <= 9)", message: "expected keys of at most 9 characters" },
        { rule: "true", message: "fine" },
      ],
    });
  });

  test("leaves values of several types to the operator, and their keys, which CEL cannot read", () => {
    const either = { anyOf: [{ type: "string" }, { type: "array", items: { type: "string" } }], description: "either" };
    const map = { type: "object", propertyNames: { pattern: "^a" }, additionalProperties: either };
    expect(structuralSchema(map)).toEqual({
      type: "object",
      additionalProperties: { description: "either", "x-kubernetes-preserve-unknown-fields": true },
    });
  });

  test("keeps integers that may be percentages", () => {
    const schema = {
      anyOf: [{ type: "integer" }, { type: "string" }],
      "x-kubernetes-int-or-string": true,
      maxLength: 4,
    };
    expect(structuralSchema(schema)).toEqual(schema);
  });

  test.each([
    [Type.Object({ a: Type.Tuple([Type.String()]) }), 'Cannot write spec.a as a structural schema: "additionalItems"'],
    [Type.Object({}, { patternProperties: {} }), 'Cannot write spec as a structural schema: "patternProperties"'],
    [Type.Object({}, { additionalProperties: false }), "Cannot write spec as a structural schema: it is not a schema"],
    [Type.Array(Type.Unsafe({ const: 1 })), 'Cannot write spec[] as a structural schema: "const"'],
  ])("refuses what has no structural form %#", (schema, sentence) => {
    expect(() => structuralSchema(schema, "spec")).toThrow(sentence);
  });
});

test("re2() writes characters as RE2 reads them", () => {
  expect(re2("^[^\\u0000]*$")).toBe("^[^\\x{0000}]*$");
});
