import { nearestName } from "../../api/closest-name.ts";
import type { Located, LocatedMap, LocatedPath } from "./located.ts";
import { patternWords } from "./pattern-words.ts";
import { problemAt, quoted, type ProjectProblem } from "./problem.ts";

/** A JSON Schema with the keywords that the one of `weir.yaml` uses. */
interface SchemaRule {
  readonly type?: string;
  readonly const?: unknown;
  readonly pattern?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly items?: SchemaRule;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly uniqueItems?: boolean;
  readonly properties?: Readonly<Record<string, SchemaRule>>;
  readonly propertyNames?: SchemaRule;
  readonly additionalProperties?: SchemaRule | boolean;
  readonly minProperties?: number;
  readonly maxProperties?: number;
  readonly required?: readonly string[];
  /** One of these must hold; each names one key. */
  readonly anyOf?: readonly { readonly required: readonly string[] }[];
}

/** Maps whose values may be confidential and are not shown. */
const hiddenMaps: ReadonlySet<string> = new Set(["envVars", "args"]);

/** Everything that does not fit a schema with the keywords of {@link SchemaRule}, each with its position. */
export function schemaProblems(root: Located, schema: object): Iterable<ProjectProblem> {
  return valueProblems(root, schema, []);
}

function* valueProblems(located: Located, rule: SchemaRule, path: LocatedPath): Generator<ProjectProblem> {
  const { at } = located;
  const wrong = kindProblem(located, rule);
  if (wrong !== undefined) yield problemAt(at, path, wrong);
  else if (located.kind === "map") yield* mapProblems(located, rule, path);
  else if (located.kind === "list") {
    const { items, minItems = 0, maxItems = Infinity, uniqueItems = false } = rule;
    if (located.items.length < minItems) yield problemAt(at, path, "it is empty");
    if (located.items.length > maxItems) yield problemAt(at, path, `expected at most ${maxItems} items`);
    const seen = new Set<unknown>();
    for (const [index, item] of located.items.entries()) {
      const value = item.kind === "scalar" && item.variables !== "missing" ? item.value : item;
      if (uniqueItems && seen.has(value)) yield problemAt(item.at, [...path, index], "it comes twice");
      seen.add(value);
      if (items !== undefined) yield* valueProblems(item, items, [...path, index]);
    }
  } else if (typeof located.value === "string" && located.variables !== "missing") {
    const state = textState(located.value, rule);
    const isHidden = located.variables === "replaced" || path.some((part) => hiddenMaps.has(String(part)));
    const got = isHidden || located.value === "" ? "" : `, got ${quoted(located.value)}`;
    if (state !== undefined) yield problemAt(at, path, `${state}${got}`);
  }
}

function* mapProblems({ at, entries }: LocatedMap, rule: SchemaRule, path: LocatedPath): Generator<ProjectProblem> {
  const { properties = {}, propertyNames, additionalProperties = true, required = [], anyOf } = rule;
  const { minProperties = 0, maxProperties = Infinity } = rule;
  const meant = new Set<string>();
  for (const [key, { keyAt, value }] of entries) {
    const inner = [...path, key];
    if (Object.hasOwn(properties, key)) {
      yield* valueProblems(value, properties[key] ?? {}, inner);
    } else if (typeof additionalProperties === "boolean") {
      if (additionalProperties) continue;
      const near = nearestName(key, Object.keys(properties));
      if (near !== undefined) meant.add(near);
      yield problemAt(keyAt, inner, `no such key${near === undefined ? "" : `; did you mean ${near}?`}`);
    } else {
      const state = propertyNames === undefined ? undefined : textState(key, propertyNames);
      if (state !== undefined) yield problemAt(keyAt, inner, `the key does not fit: ${state}`);
      yield* valueProblems(value, additionalProperties, inner);
    }
  }
  if (entries.size < minProperties) yield problemAt(at, path, "it is empty");
  if (entries.size > maxProperties) yield problemAt(at, path, `expected at most ${maxProperties} keys`);
  const isThere = (key: string): boolean => entries.has(key) || meant.has(key);
  for (const key of required) if (!isThere(key)) yield problemAt(at, [...path, key], "it is required");
  if (anyOf !== undefined && !anyOf.some((each) => each.required.every(isThere)))
    yield problemAt(at, path, `it needs one of ${anyOf.flatMap((each) => each.required).join(", ")}`);
}

/** What is wrong with the kind of a value; undefined if nothing is. */
function kindProblem(located: Located, rule: SchemaRule): string | undefined {
  const expected = expectedKind(rule);
  if (located.kind === "map") return rule.type === "object" ? undefined : `${expected}, got a mapping`;
  if (located.kind === "list") return rule.type === "array" ? undefined : `${expected}, got a list`;
  const { value, source, variables } = located;
  if (value === null) return "it is empty; write a value, or leave the key out";
  if (rule.const === undefined ? typeof value === rule.type : value === rule.const) return undefined;
  if (rule.type === "string") return `${expected}; put ${source.slice(0, 64)} in quotes`;
  return variables === "none" ? `${expected}, got ${quoted(source)}` : expected;
}

function expectedKind({ type, const: only }: SchemaRule): string {
  if (only !== undefined) return `expected ${JSON.stringify(only)}`;
  switch (type) {
    case "object":
      return "expected a mapping";
    case "array":
      return "expected a list";
    case "boolean":
      return "expected true or false";
    default:
      return "expected text";
  }
}

/** What is wrong with a text; undefined if nothing is. Its length counts characters, not code units. */
function textState(text: string, { pattern, minLength = 0, maxLength = Infinity }: SchemaRule): string | undefined {
  if (text.length < minLength) return "it is empty";
  if (text.length > maxLength && Array.from(text).length > maxLength) return `expected at most ${maxLength} characters`;
  if (pattern !== undefined && !new RegExp(pattern, "u").test(text)) return `expected ${patternWords(pattern)}`;
  return undefined;
}
