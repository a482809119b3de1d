import { grammarRule } from "../api/grammar.ts";
import { quote } from "../core/quote.ts";

/** One finding of the schema validator, which is set to tell what it saw. */
interface Finding {
  readonly keyword: string;
  readonly instancePath: string;
  readonly params: Readonly<Record<string, unknown>>;
  readonly data?: unknown;
}

interface SchemaFailure {
  readonly validation: readonly Finding[];
  readonly validationContext?: string;
}

/** Rules of fields that a pattern alone would not explain. */
const patternRules: Readonly<Record<string, string>> = {
  name: grammarRule.secret,
  service: grammarRule.function,
  functionName: grammarRule.function,
  namespace: grammarRule.namespace,
  secrets: grammarRule.secret,
  image: 'expected an image reference without scheme, blank or leading "-"',
  constraints: "expected key=value or key==value",
  limits: "expected a quantity such as 128Mi or 500m",
  requests: "expected a quantity such as 128Mi or 500m",
};

/** Fields whose values may be confidential and are not shown. */
const hidden = new Set(["value", "rawValue", "envVars"]);

const words: Readonly<Record<string, string>> = {
  string: "text",
  integer: "a whole number",
  number: "a number",
  boolean: "true or false",
  object: "an object",
  array: "a list",
};

/** Whether `err` is what Fastify throws when a request does not fit its schema. */
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
    const state =
      finding.data === undefined || finding.data === null ? "it is empty" : `expected ${rule(finding, path)}`;
    return `Cannot read the ${validationContext ?? "request"}: ${state}`;
  }
  if (validationContext === "params" && path[0] === "name") {
    return `Cannot read function name ${show(finding.data)}: ${grammarRule.function}`;
  }
  const value = hidden.has(path[0] ?? "") ? "" : ` ${show(finding.data)}`;
  return `Cannot read field "${path.join(".")}"${value}: ${rule(finding, path)}`;
}

function rule({ keyword, params }: Finding, path: readonly string[]): string {
  const limit = String(params["limit"]);
  switch (keyword) {
    case "type":
      return `expected ${words[String(params["type"])] ?? "another type"}`;
    case "pattern":
      return patternRules[path[0] ?? ""] ?? `expected text like ${String(params["pattern"])}`;
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
    default:
      return "it does not fit the schema";
  }
}

function show(value: unknown): string {
  if (typeof value === "string") return quote(value);
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  return Array.isArray(value) ? "(a list)" : "(an object)";
}
