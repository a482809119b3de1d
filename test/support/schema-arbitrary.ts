import fc, { type Arbitrary } from "fast-check";

interface Schema {
  readonly type?: string;
  readonly enum?: readonly string[];
  readonly anyOf?: readonly Schema[];
  readonly format?: string;
  readonly pattern?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minItems?: number;
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly propertyNames?: Schema;
  readonly additionalProperties?: Schema;
  readonly "x-kubernetes-int-or-string"?: boolean;
  readonly uniqueItems?: boolean;
}

/** Small values that a JSON schema accepts; supports the keywords in the schemas of our custom resources. */
export function arbitraryOf(schema: object): Arbitrary<unknown> {
  return valueOf(JSON.parse(JSON.stringify(schema)) as Schema);
}

function valueOf(schema: Schema): Arbitrary<unknown> {
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum);
  if (schema["x-kubernetes-int-or-string"] === true) return fc.constantFrom(0, 3, "25%", "7");
  if (schema.anyOf !== undefined) return fc.oneof(...schema.anyOf.map(valueOf));
  switch (schema.type) {
    case "boolean":
      return fc.boolean();
    case "integer":
      return fc.integer({ min: schema.minimum ?? -5, max: Math.min(schema.maximum ?? 1_000, 2_147_483_647) });
    case "array": {
      const rules = { minLength: schema.minItems ?? 0, maxLength: (schema.minItems ?? 0) + 2 };
      const items = valueOf(schema.items ?? {});
      return schema.uniqueItems === true ? fc.uniqueArray(items, rules) : fc.array(items, rules);
    }
    case "object":
      return objectOf(schema);
    default:
      return textOf(schema);
  }
}

function objectOf({ properties, required = [], propertyNames = {}, additionalProperties }: Schema): Arbitrary<unknown> {
  if (properties === undefined) {
    // Readers of people's files refuse these keys whatever the schema says.
    const names = textOf(propertyNames).filter((name) => name !== "__proto__" && name !== "constructor");
    return fc.dictionary(names, valueOf(additionalProperties ?? {}), {
      maxKeys: 3,
      noNullPrototype: true,
    });
  }
  const fields = Object.entries(properties).map(([name, property]) => [name, valueOf(property)] as const);
  return fc.record(Object.fromEntries(fields), { requiredKeys: [...required], noNullPrototype: true });
}

function textOf({ enum: words, format, pattern, minLength = 0, maxLength = 64 }: Schema): Arbitrary<string> {
  if (words !== undefined) return fc.constantFrom(...words);
  if (format === "date-time") return fc.constant("2026-01-31T12:00:00.000Z");
  const text = pattern === undefined ? fc.string({ minLength, maxLength: 64 }) : fc.stringMatching(new RegExp(pattern));
  return text.filter(({ length }) => length >= minLength && length <= maxLength);
}
