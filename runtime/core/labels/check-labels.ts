import { PlatformError } from "../../api/platform-error.ts";
import { mostText } from "../../api/schemas/key-rules.ts";
import { isLabelKey, isLabelValue, labelRule } from "./label-syntax.ts";
import { quote } from "../quote.ts";

/** @throws PlatformError `validation_failed` for a key or value that breaks the syntax of labels */
export function checkLabels(labels: Readonly<Record<string, string>>): void {
  for (const [key, value] of Object.entries(labels)) {
    if (!isLabelKey(key)) throw badField("labels", labelRule.key, key);
    if (!isLabelValue(value)) throw badField(`labels.${key}`, labelRule.value, value);
  }
}

/** @throws PlatformError `validation_failed` for a bad key, or when keys and values together are too long */
export function checkAnnotations(annotations: Readonly<Record<string, string>>): void {
  let bytes = 0;
  for (const [key, value] of Object.entries(annotations)) {
    if (!isLabelKey(key)) throw badField("annotations", labelRule.key, key);
    bytes += Buffer.byteLength(key) + Buffer.byteLength(value);
  }
  if (bytes > mostText) throw tooLong("annotations", bytes);
}

/** The error for a field whose value breaks a rule. */
export function badField(field: string, rule: string, value: string): PlatformError {
  return new PlatformError("validation_failed", `Cannot read field "${field}" ${quote(value)}: ${rule}`);
}

/** The error for a field whose content is too long in total. */
export function tooLong(field: string, bytes: number): PlatformError {
  const limit = `${bytes} bytes are over the limit of ${mostText}`;
  return new PlatformError("validation_failed", `Cannot read field "${field}": ${limit}`);
}
