import type { ErrorObject } from "ajv";

import { nearestName } from "../closest-name.ts";
import type { CelRule } from "../resources/cel-rules.ts";

/** The first thing that is wrong with a manifest, and where. */
export interface IamFinding {
  /** Keys and indexes from the manifest to the value; a key that is wrong itself is the last of them. */
  readonly path: readonly string[];
  /** Whether the key at the end of `path` is wrong, not its value. */
  readonly isKey: boolean;
  /** Field, value and rule. */
  readonly sentence: string;
}

const maxShown = 64;

/** What the patterns of fields mean, by the last name in the path. */
const patternWords: Readonly<Record<string, string>> = {
  name: 'a to z, 0 to 9, and "-" and "." inside, at most 253 characters',
  iss: "an address such as https://issuer.example.com",
  issInternal: "an address such as http://issuer.auth.svc:8080",
  clientSecretName: 'a file name of a to z, 0 to 9, and "-" and "." inside',
  scopes: "a scope: characters without spaces, quotes and backslashes",
  resource: '"*", "namespace:*" or "namespace:function", which are matched as a whole; "*" may stand inside a part',
  policy: 'the name of a Policy: a to z, 0 to 9, and "-" and "." inside',
};

const typeWords: Readonly<Record<string, string>> = {
  string: "text",
  object: "a mapping",
  array: "a list",
};

/** A field that is not known goes first, as a required one may be missing for it. */
export function iamFinding(errors: readonly ErrorObject[]): IamFinding {
  const whole = errors.filter(({ schemaPath }) => !schemaPath.includes("/anyOf/"));
  const first = whole.find(({ keyword }) => keyword === "additionalProperties") ?? whole[0];
  if (first === undefined) throw new Error("Cannot describe what is wrong: nothing is");
  // What else is wrong with a value of the wrong type does not matter.
  const isItsType = (each: ErrorObject): boolean => each.keyword === "type" && each.instancePath === first.instancePath;
  const error = whole.find(isItsType) ?? first;
  const path = error.instancePath
    .split("/")
    .slice(1)
    .map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"));
  const { params, keyword, propertyName } = error;
  if (keyword === "additionalProperties") {
    const key = String(params["additionalProperty"]);
    const near = nearestName(key, Object.keys(propertiesOf(error)));
    const hint = near === undefined ? "" : `; did you mean ${near}?`;
    return found([...path, key], true, `${fieldText([...path, key])} is not known${hint}`);
  }
  if (keyword === "required") {
    const missing = fieldText([...path, String(params["missingProperty"])]);
    return found(path, false, `${missing} is required`);
  }
  if (propertyName !== undefined) {
    const inner = [...path, propertyName];
    return found(inner, true, `${fieldText(inner)} is not an allowed key: expected ${expectation(error, inner)}`);
  }
  const value = error.data;
  return found(path, false, `${fieldText(path)} is ${shown(value)}: expected ${expectation(error, path)}`);
}

/** A text of a manifest in quotes, cut after 64 characters. */
export function quotedText(text: string): string {
  return JSON.stringify(text.length > maxShown ? `${text.slice(0, maxShown)}…` : text);
}

function found(path: readonly string[], isKey: boolean, sentence: string): IamFinding {
  return { path, isKey, sentence };
}

function expectation(error: ErrorObject, path: readonly string[]): string {
  const { keyword, params, propertyName } = error;
  const limit = String(params["limit"]);
  switch (keyword) {
    case "type":
      return typeWords[String(params["type"])] ?? "another type";
    case "const":
      return quotedText(String(params["allowedValue"]));
    case "enum":
      return choiceText(params["allowedValues"], propertyName ?? error.data);
    case "pattern":
      if (propertyName !== undefined) return '"jwt:" and the name of a claim';
      return patternWords[nameAt(path)] ?? `text like ${String(params["pattern"])}`;
    case "anyOf":
      return "text, or a list of texts: at most 256, each of at most 1024 characters";
    case "minLength":
    case "minItems":
      return limit === "1" ? "something in it" : `at least ${limit}`;
    case "maxLength":
      return `at most ${limit} characters`;
    case "maxItems":
      return `at most ${limit} items`;
    case "maxProperties":
      return `at most ${limit} keys`;
    case "x-kubernetes-list-type":
      return "no item twice";
    case "x-kubernetes-validations":
      return celText(error);
    default:
      return "what the schema asks";
  }
}

/** Actions are too many to list. */
function choiceText(allowed: unknown, given: unknown): string {
  const words = Array.isArray(allowed) ? allowed.map(String) : [];
  const near = typeof given === "string" ? nearestName(given, words) : undefined;
  const hint = near === undefined ? "" : `; did you mean ${quotedText(near)}?`;
  if (words.length <= 8) return `${words.map(quotedText).join(" or ")}${hint}`;
  return `an action such as "Function:Delete" or "Function:*"${hint}`;
}

function celText({ parentSchema }: ErrorObject): string {
  const rules = (parentSchema?.["x-kubernetes-validations"] ?? []) as readonly CelRule[];
  return rules.map(({ message }) => message.replace(/^expected /, "")).join(" and ");
}

function propertiesOf({ parentSchema }: ErrorObject): object {
  return (parentSchema?.["properties"] ?? {}) as object;
}

/** The last part that is no index. */
function nameAt(path: readonly string[]): string {
  return path.findLast((part) => !isIndex(part)) ?? "";
}

function fieldText(path: readonly string[]): string {
  const text = path.map((part) => (isIndex(part) ? `[${part}]` : `.${part}`)).join("");
  return `field ${quotedLong(text.replace(/^\./, ""))}`;
}

/** Paths are longer than values; the end says more than the start. */
function quotedLong(path: string): string {
  const most = 160;
  return JSON.stringify(path.length > most ? `…${path.slice(-most)}` : path);
}

function isIndex(part: string): boolean {
  return /^\d+$/.test(part);
}

function shown(value: unknown): string {
  if (typeof value === "string") return value === "" ? "empty" : quotedText(value);
  if (value === null || value === undefined) return "empty";
  if (Array.isArray(value)) return value.length === 0 ? "an empty list" : "a list";
  return typeof value === "object" ? "a mapping" : JSON.stringify(value);
}
