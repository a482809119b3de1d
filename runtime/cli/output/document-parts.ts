import { escapeText } from "./escape-text.ts";
import { safeYaml } from "./safe-yaml.ts";

/**
 * A value as one JSON or YAML document without a character that a terminal obeys, in parts: of a list each element is
 * one, as the text of a long one takes more memory than the list.
 */
export async function* documentParts(value: unknown, format: "json" | "yaml"): AsyncGenerator<string> {
  if (!Array.isArray(value) || value.length === 0) {
    yield format === "json" ? `${jsonText(value)}\n` : await safeYaml(value);
    return;
  }
  if (format === "yaml") {
    for (const element of value) yield safeYaml([element]);
    return;
  }
  let before = "[\n  ";
  for (const element of value) {
    // There is no line break in a string of JSON.
    yield before + jsonText(element).replaceAll("\n", "\n  ");
    before = ",\n  ";
  }
  yield "\n]\n";
}

/** In JSON the escapes mean the same characters. */
function jsonText(value: unknown): string {
  return escapeText(JSON.stringify(value, undefined, 2));
}
