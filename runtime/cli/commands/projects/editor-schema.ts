import { patternWords } from "../../project/pattern-words.ts";
import { ProjectFile } from "../../project/project-schema.ts";

/**
 * The JSON Schema of `weir.yaml` for editors: where a text has a pattern, a variable may stand, and editors find the
 * pattern in words.
 */
export function editorSchema(): object {
  return { $schema: "http://json-schema.org/draft-07/schema#", ...withVariables(ProjectFile) };
}

function withVariables(schema: object): object {
  const entries = Object.entries(schema).map(([key, value]: readonly [string, unknown]) => {
    if (key === "pattern" && typeof value === "string") return [key, `${value}|\\$\\{`];
    // Variables are replaced in values only.
    if (key === "propertyNames" || key === "examples") return [key, value];
    return [key, Array.isArray(value) ? value.map(inner) : inner(value)];
  });
  const words = "pattern" in schema ? { patternErrorMessage: `Expected ${patternWords(String(schema.pattern))}` } : {};
  return { ...Object.fromEntries(entries), ...words };
}

function inner(value: unknown): unknown {
  return typeof value === "object" && value !== null ? withVariables(value) : value;
}
