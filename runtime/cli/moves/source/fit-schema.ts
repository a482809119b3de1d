import { Check } from "typebox/value";

import { nearestName } from "../../../api/closest-name.ts";
import type { Located, LocatedMap } from "../../project/located.ts";
import { patternWords } from "../../project/pattern-words.ts";
import { foreignReference, textByDefaults } from "./references.ts";
import { entriesOf, scalarText, type SourceEntries, type SourceScalar } from "./source-document.ts";

/** The keywords of JSON Schema that the schemas of functions and custom resources use. */
export interface FieldSchema {
  readonly type?: string;
  readonly enum?: readonly unknown[];
  readonly pattern?: string;
  readonly maxLength?: number;
  readonly anyOf?: readonly FieldSchema[];
  readonly properties?: Readonly<Record<string, FieldSchema>>;
  readonly required?: readonly string[];
  readonly propertyNames?: FieldSchema;
  readonly additionalProperties?: FieldSchema | boolean;
  readonly maxProperties?: number;
  readonly items?: FieldSchema;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly uniqueItems?: boolean;
  readonly "x-kubernetes-int-or-string"?: boolean;
}

/** A part of a value that does not fit. */
export interface Misfit {
  /** Below the value, as in `.statement[0].action[1]`; empty for the value itself. */
  readonly path: string;
  /** Where it begins, an offset in the file. */
  readonly at: number;
  /** As in `expected true or false`. */
  readonly why: string;
}

export interface Fitted {
  /** What fits; undefined when nothing does. */
  readonly value: unknown;
  readonly misfits: readonly Misfit[];
}

/** Most words of a list that are shown. */
const mostWords = 8;

/** Keys that narrow what their object allows: without all of them, the object is left out, so that nothing widens. */
const narrowing: ReadonlySet<string> = new Set(["condition", "principal"]);

/**
 * The parts of a value that fit a schema. A text may be written as a number or as true or false. With `references`,
 * `${NAME:-default}` stands for its default.
 */
export function fitToSchema(source: Located, schema: FieldSchema, references = false): Fitted {
  if (schema.anyOf !== undefined && schema["x-kubernetes-int-or-string"] !== true) {
    const tried = schema.anyOf.map((each) => fitToSchema(source, each, references));
    return tried.find(({ misfits }) => misfits.length === 0) ?? misfit(source, `expected ${expectationOf(schema)}`);
  }
  switch (source.kind) {
    case "scalar":
      return fitScalar(source, schema, references);
    case "list":
      return schema.type === "array" ? fitList(source, schema, references) : misfit(source, expected(schema));
    case "map":
      if (schema.type !== "object") return misfit(source, expected(schema));
      return schema.properties === undefined
        ? fitMap(source, schema, references)
        : fitObject(source, schema.properties, schema.required ?? [], references);
    default:
      return source satisfies never;
  }
}

/** The same for one entry of a map, whose key has a schema, too. */
export function fitEntry(key: string, source: Located, schema: FieldSchema, references = false): Fitted {
  const { propertyNames, additionalProperties } = schema;
  if (propertyNames !== undefined && !Check(propertyNames, key)) return misfit(source, expected(propertyNames));
  return fitToSchema(source, typeof additionalProperties === "object" ? additionalProperties : {}, references);
}

function fitScalar(source: SourceScalar, schema: FieldSchema, references: boolean): Fitted {
  if (source.value === null) return misfit(source, "it is empty");
  const asText = schema.type === "string" || (schema.type === undefined && typeof source.value === "string");
  const value = asText ? scalarText(source) : source.value;
  if (references && typeof value === "string") {
    const foreign = foreignReference(value);
    if (foreign !== undefined) return misfit(source, foreign);
    const sample = textByDefaults(value);
    if (asText && (sample === undefined || Check(schema, sample))) return { value, misfits: [] };
  }
  if (Check(schema, value)) return { value, misfits: [] };
  return misfit(source, unknownWord(schema, value) ?? expected(schema));
}

/** A word of a list that is too long to be shown. */
function unknownWord({ enum: words = [] }: FieldSchema, value: unknown): string | undefined {
  if (words.length <= mostWords || typeof value !== "string") return undefined;
  const near = nearestName(value, words.map(String));
  return `Weir has no "${value}"${near === undefined ? "" : `; did you mean ${near}?`}`;
}

function fitList(
  source: Extract<Located, { readonly kind: "list" }>,
  { items = {}, minItems = 0, maxItems = Infinity, uniqueItems = false }: FieldSchema,
  references: boolean,
): Fitted {
  const seen = new Set<unknown>();
  const fitted = source.items.map((item) => {
    const each = fitToSchema(item, items, references);
    if (uniqueItems && seen.has(each.value)) return misfit(item, "it is there twice");
    if (each.value !== undefined) seen.add(each.value);
    return each;
  });
  const misfits = fitted.flatMap((each, index) => below(`[${index}]`, each));
  const kept = fitted.flatMap(({ value }) => (value === undefined ? [] : [value]));
  if (kept.length > maxItems) return misfit(source, `expected at most ${maxItems} items`);
  if (kept.length >= minItems && (kept.length > 0 || source.items.length === 0)) return { value: kept, misfits };
  const few = { path: "", at: source.at, why: `expected at least ${minItems} items` };
  return { value: undefined, misfits: misfits.length > 0 ? misfits : [few] };
}

function fitMap(source: LocatedMap, schema: FieldSchema, references: boolean): Fitted {
  const { maxProperties = Infinity } = schema;
  if (source.entries.size > maxProperties) return misfit(source, `expected at most ${maxProperties} keys`);
  const value: Record<string, unknown> = {};
  const misfits: Misfit[] = [];
  for (const [key, each] of entriesOf(source)) {
    const fitted = fitEntry(key, each, schema, references);
    misfits.push(...below(`.${key}`, fitted));
    if (fitted.value !== undefined) value[key] = fitted.value;
  }
  return { value: misfits.length > 0 && Object.keys(value).length === 0 ? undefined : value, misfits };
}

function fitObject(
  source: LocatedMap,
  properties: Readonly<Record<string, FieldSchema>>,
  required: readonly string[],
  references: boolean,
): Fitted {
  const value: Record<string, unknown> = {};
  const misfits: Misfit[] = [];
  let whole = true;
  for (const [key, each] of entriesOf(source)) {
    const schema = Object.hasOwn(properties, key) ? properties[key] : undefined;
    const fitted =
      schema === undefined ? misfit(each, unknownField(key, properties)) : fitToSchema(each, schema, references);
    misfits.push(...below(`.${key}`, fitted));
    if (fitted.value !== undefined) value[key] = fitted.value;
    if (fitted.misfits.length > 0 && narrowing.has(key)) whole = false;
  }
  if (!whole) misfits.push({ path: "", at: source.at, why: "without its condition it would allow more" });
  for (const name of missing(entriesOf(source), required))
    misfits.push({ path: `.${name}`, at: source.at, why: "it is required" });
  return { value: whole && required.every((name) => Object.hasOwn(value, name)) ? value : undefined, misfits };
}

function missing(entries: SourceEntries, required: readonly string[]): readonly string[] {
  return required.filter((name) => !entries.has(name));
}

function unknownField(key: string, properties: object): string {
  const near = nearestName(key, Object.keys(properties));
  return `Weir has no such field${near === undefined ? "" : `; did you mean ${near}?`}`;
}

function below(path: string, { misfits }: Fitted): readonly Misfit[] {
  return misfits.map((each) => ({ ...each, path: path + each.path }));
}

function misfit({ at }: Located, why: string): Fitted {
  return { value: undefined, misfits: [{ path: "", at, why }] };
}

function expected(schema: FieldSchema): string {
  return `expected ${expectationOf(schema)}`;
}

const typeNames: Readonly<Record<string, string>> = {
  array: "a list",
  boolean: "true or false",
  integer: "a whole number",
  number: "a number",
  object: "a mapping",
  string: "a text",
};

function expectationOf({ type, enum: words, pattern, maxLength }: FieldSchema): string {
  if (words !== undefined) return words.map(String).join(" or ");
  if (pattern !== undefined) return patternWords(pattern);
  const name = typeNames[type ?? ""] ?? "another kind of value";
  return maxLength === undefined ? name : `${name} of at most ${maxLength} characters`;
}
