import { PlatformError } from "../../api/platform-error.ts";
import { expectedOf, type KeyRule } from "../../api/schemas/key-rules.ts";
import { sentKey, type KeyedTexts } from "./keys.ts";
import { quote } from "../quote.ts";

/**
 * Reads the value of a platform key; undefined for an absent one.
 * @throws PlatformError `validation_failed` for a value that cannot be used
 */
export type KeyReader = <T>(rule: KeyRule<T>) => T | undefined;

/** A reader of the platform keys in `texts`; `kind` names them in error sentences. */
export function keyReader(kind: "label" | "annotation", texts: KeyedTexts): KeyReader {
  return (rule) => {
    const key = sentKey(texts, rule.name);
    const value = key === undefined ? undefined : texts?.[key];
    if (value === undefined) return undefined;
    const parsed = rule.parse(value);
    if (parsed !== undefined) return parsed;
    const expected = expectedOf(rule, rule.kind === "duration" ? rule.setting : undefined);
    throw new PlatformError(
      "validation_failed",
      `Cannot read ${kind} "${key}": expected ${expected}, got ${quote(value)}`,
    );
  };
}
