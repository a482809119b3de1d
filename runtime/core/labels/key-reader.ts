import { parseBoolean } from "../../api/boolean.ts";
import { formatDuration, longestDuration, parseDuration } from "../../api/duration.ts";
import { PlatformError } from "../../api/platform-error.ts";
import { sentKey, type KeyedTexts } from "./keys.ts";
import { quote } from "../quote.ts";

/**
 * Reads values of platform keys from labels or annotations; each reader gives undefined for an absent key and throws
 * PlatformError `validation_failed` with a sentence for a value that cannot be used.
 */
export interface KeyReader {
  text(name: string, expected: string, accepts: (value: string) => boolean): string | undefined;
  choice<const T extends string>(name: string, words: readonly T[]): T | undefined;
  boolean(name: string): boolean | undefined;
  whole(name: string, min: number, max: number): number | undefined;
  /** Above `above`, at most `max`. */
  number(name: string, above: number, max: number): number | undefined;
  /** Milliseconds; `most` is what sentences say in place of `max`. */
  duration(name: string, min?: number, max?: number, most?: string): number | undefined;
}

/** A reader of the platform keys in `texts`; `kind` is what sentences call them. */
export function keyReader(kind: "label" | "annotation", texts: KeyedTexts): KeyReader {
  function read<T>(name: string, expected: string, parse: (value: string) => T | undefined): T | undefined {
    const key = sentKey(texts, name);
    const value = key === undefined ? undefined : texts?.[key];
    if (value === undefined) return undefined;
    const parsed = parse(value);
    if (parsed !== undefined) return parsed;
    throw new PlatformError(
      "validation_failed",
      `Cannot read ${kind} "${key}": expected ${expected}, got ${quote(value)}`,
    );
  }

  return {
    text: (name, expected, accepts) => read(name, expected, (value) => (accepts(value) ? value : undefined)),
    choice: (name, words) =>
      read(name, words.map((word) => `"${word}"`).join(" or "), (value) => words.find((word) => word === value)),
    boolean: (name) => read(name, "true or false", parseBoolean),
    whole: (name, min, max) =>
      read(name, `a whole number from ${min} to ${max}`, (value) => {
        const number = /^\d{1,15}$/.test(value) ? Number(value) : Number.NaN;
        return number >= min && number <= max ? number : undefined;
      }),
    number: (name, above, max) =>
      read(name, max === Infinity ? `a number above ${above}` : `a number above ${above}, at most ${max}`, (value) => {
        const number = /^\d{1,15}(\.\d{1,9})?$/.test(value) ? Number(value) : Number.NaN;
        return number > above && number <= max ? number : undefined;
      }),
    duration: (name, min = 0, max = longestDuration, most = formatDuration(max)) =>
      read(name, `a duration from ${formatDuration(min)} to ${most}`, (value) => {
        const duration = parseDuration(value);
        return duration !== undefined && duration >= min && duration <= max ? duration : undefined;
      }),
  };
}
