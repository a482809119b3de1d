import { celText } from "../../../runtime/api/resources/cel-rules.ts";

/** A value of a manifest. */
export type Plain = null | boolean | number | string | readonly Plain[] | PlainObject;

/** An object of a manifest. */
export interface PlainObject {
  readonly [key: string]: Plain;
}

const kept = new Set([
  "type",
  "description",
  "default",
  "enum",
  "format",
  "pattern",
  "minLength",
  "maxLength",
  "minimum",
  "maximum",
  "minItems",
  "maxItems",
  "minProperties",
  "maxProperties",
  "x-kubernetes-validations",
  "x-kubernetes-list-type",
  "x-kubernetes-list-map-keys",
  "x-kubernetes-int-or-string",
]);
/** Keywords for documents only, or handled separately. */
const dropped = new Set(["title", "examples", "writeOnly", "propertyNames", "required"]);

/**
 * Converts a JSON schema to a structural schema, as the Kubernetes API server requires: rules for names become CEL
 * rules, and patterns are written for RE2.
 * @throws Error for a keyword that has no structural form
 */
export function structuralSchema(schema: object, path = "schema"): PlainObject {
  return convert(JSON.parse(JSON.stringify(schema)) as PlainObject, path);
}

function convert(schema: PlainObject, path: string): PlainObject {
  const alternatives = schema["anyOf"];
  // The API server validates only values of one type: one of several types is stored, and checked by the operator.
  if (alternatives !== undefined && schema["x-kubernetes-int-or-string"] !== true) {
    return { ...described(schema), "x-kubernetes-preserve-unknown-fields": true };
  }
  const result: Record<string, Plain> = {};
  for (const [keyword, value] of Object.entries(schema)) {
    if (kept.has(keyword)) result[keyword] = value;
    else if (!dropped.has(keyword)) Object.assign(result, convertKeyword(keyword, value, path));
  }
  if (typeof schema["pattern"] === "string") result["pattern"] = re2(schema["pattern"]);
  if (Array.isArray(schema["required"]) && schema["required"].length > 0) result["required"] = schema["required"];
  const rules = [
    ...nameRules(schema),
    ...(isList(schema["x-kubernetes-validations"]) ? schema["x-kubernetes-validations"] : []),
  ];
  if (rules.length > 0) result["x-kubernetes-validations"] = rules;
  return result;
}

function convertKeyword(keyword: string, value: Plain, path: string): Record<string, Plain> {
  switch (keyword) {
    case "properties":
      return {
        properties: Object.fromEntries(
          Object.entries(objectAt(value, path)).map(([name, property]) => [
            name,
            convert(objectAt(property, `${path}.${name}`), `${path}.${name}`),
          ]),
        ),
      };
    case "items":
      return { items: convert(objectAt(value, path), `${path}[]`) };
    case "additionalProperties":
      return { additionalProperties: convert(objectAt(value, path), `${path}.*`) };
    case "anyOf":
      return { anyOf: value };
    case "uniqueItems":
      return { "x-kubernetes-list-type": "set" };
    default:
      throw new Error(`Cannot write ${path} as a structural schema: "${keyword}" has no such form`);
  }
}

/** Rules for the names in a map; only CEL can check them, and not where values have no type. */
function nameRules(schema: PlainObject): Plain[] {
  const names = schema["propertyNames"];
  const values = schema["additionalProperties"];
  if (!isObject(names) || !isVisible(values)) return [];
  const { pattern, maxLength, description } = names;
  return [
    ...(typeof pattern === "string"
      ? [
          {
            rule: `self.all(key, key.matches(${celText(re2(pattern))}))`,
            message:
              typeof description === "string"
                ? `expected keys that are ${description}`
                : `expected keys that match ${pattern}`,
          },
        ]
      : []),
    ...(typeof maxLength === "number"
      ? [
          {
            rule: `self.all(key, size(key) <= ${maxLength})`,
            message: `expected keys of at most ${maxLength} characters`,
          },
        ]
      : []),
  ];
}

/** Whether CEL can access values of this schema. */
function isVisible(schema: Plain | undefined): boolean {
  if (!isObject(schema)) return false;
  if (schema["anyOf"] !== undefined) return schema["x-kubernetes-int-or-string"] === true;
  return schema["additionalProperties"] === undefined || isVisible(schema["additionalProperties"]);
}

function described(schema: PlainObject): PlainObject {
  return schema["description"] === undefined ? {} : { description: schema["description"] };
}

/** The pattern as RE2 spells it. */
export function re2(pattern: string): string {
  return pattern.replaceAll(/\\u([0-9a-fA-F]{4})/g, "\\x{$1}");
}

function objectAt(value: Plain | undefined, path: string): PlainObject {
  if (isObject(value)) return value;
  throw new Error(`Cannot write ${path} as a structural schema: it is not a schema`);
}

function isList(value: Plain | undefined): value is readonly Plain[] {
  return Array.isArray(value);
}

function isObject(value: Plain | undefined): value is PlainObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
