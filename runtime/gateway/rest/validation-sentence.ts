import { grammarRule, namePattern } from "../../api/grammar.ts";
import { labelRule } from "../../core/labels/label-syntax.ts";
import { quote } from "../../core/quote.ts";

/** One finding of the schema validator, which is configured to include the data it checked. */
interface Finding {
  readonly keyword: string;
  readonly instancePath: string;
  readonly params: Readonly<Record<string, unknown>>;
  readonly data?: unknown;
  /** Present when the finding concerns the key of a map. */
  readonly propertyName?: string;
}

interface SchemaFailure {
  readonly validation: readonly Finding[];
  readonly validationContext?: string;
}

/** Descriptions of patterns. */
const patternRules: ReadonlyMap<string, string> = new Map([
  [namePattern.function, grammarRule.function],
  [namePattern.secret, grammarRule.secret],
  [namePattern.queue, grammarRule.queue],
  [namePattern.key, labelRule.key],
  [namePattern.labelValue, labelRule.value],
  [namePattern.resource, `expected ${grammarRule.resource}`],
]);

/** Rules of fields whose patterns alone would not explain them. */
const fieldRules: Readonly<Record<string, string>> = {
  image: 'expected an image reference without scheme, blank or leading "-"',
  constraints: "expected key=value or key==value",
  limits: `expected ${grammarRule.quantity}`,
  requests: `expected ${grammarRule.quantity}`,
  envProcess: "expected text without NUL",
  rawValue: "expected base64",
};
const environmentRules = {
  key: `expected keys of ${grammarRule.environment}`,
  value: "expected text without NUL",
} as const;

/** What path parameters are called in sentences. */
const pathNames: Readonly<Record<string, string>> = { name: "function name", namespace: "namespace name" };

/** Fields whose values may be confidential and are not shown. */
const hidden = new Set(["value", "rawValue", "envVars", "token"]);

const typeNames: Readonly<Record<string, string>> = {
  string: "text",
  integer: "a whole number",
  number: "a number",
  boolean: "true or false",
  object: "an object",
  array: "a list",
};

/** Whether `err` is the error that Fastify throws when a request does not fit its schema. */
export function isSchemaFailure(err: unknown): err is SchemaFailure {
  return err instanceof Error && "validation" in err && Array.isArray(err.validation);
}

/** One sentence that names field, rule and value. */
export function validationSentence({ validation, validationContext }: SchemaFailure): string {
  const finding = validation[0];
  if (finding === undefined) return "Cannot read the request: it does not fit its schema";
  const path = finding.instancePath
    .split("/")
    .slice(1)
    .map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"));
  if (finding.keyword === "required") {
    const field = [...path, String(finding.params["missingProperty"])].join(".");
    return `Cannot read field "${field}": it is required`;
  }
  if (path.length === 0) {
    const state = finding.data === undefined || finding.data === null ? "it is empty" : rule(finding, path);
    return `Cannot read the ${validationContext ?? "request"}: ${state}`;
  }
  const [first = ""] = path;
  if (validationContext === "params" && pathNames[first] !== undefined) {
    return `Cannot read ${pathNames[first]} ${show(finding.data)}: ${rule(finding, path)}`;
  }
  const shown = finding.propertyName ?? (hidden.has(first) ? undefined : finding.data);
  const value = shown === undefined ? "" : ` ${show(shown)}`;
  return `Cannot read field "${path.join(".")}"${value}: ${rule(finding, path)}`;
}

function rule({ keyword, params, propertyName }: Finding, path: readonly string[]): string {
  const limit = String(params["limit"]);
  switch (keyword) {
    case "type":
      return `expected ${typeNames[String(params["type"])] ?? "another type"}`;
    case "pattern":
      return patternRule(String(params["pattern"]), path[0] ?? "", propertyName !== undefined);
    case "minLength":
      return limit === "1" ? "it is empty" : `expected at least ${limit} characters`;
    case "maxLength":
      return `expected at most ${limit} characters`;
    case "minimum":
      return `expected at least ${limit}`;
    case "maximum":
      return `expected at most ${limit}`;
    case "maxItems":
      return `expected at most ${limit} items`;
    case "maxProperties":
      return `expected at most ${limit} keys`;
    case "enum":
      return `expected ${choiceOf(params["allowedValues"])}`;
    case "uniqueItems":
      return "expected no item twice";
    default:
      return "it does not fit the schema";
  }
}

function choiceOf(allowed: unknown): string {
  return Array.isArray(allowed) ? allowed.map((value) => JSON.stringify(value)).join(" or ") : "another value";
}

function patternRule(pattern: string, field: string, isKey: boolean): string {
  if (field === "envVars") return environmentRules[isKey ? "key" : "value"];
  return patternRules.get(pattern) ?? fieldRules[field] ?? `expected text like ${pattern}`;
}

function show(value: unknown): string {
  if (typeof value === "string") return quote(value);
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  return Array.isArray(value) ? "(a list)" : "(an object)";
}
