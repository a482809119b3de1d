import { parseBoolean } from "./boolean.ts";
import { parseDuration } from "./duration.ts";

/**
 * One setting of a process: its snake_case name is the environment variable and the key of the `--config` file,
 * the flag is the same in kebab-case.
 */
export interface Setting<T> {
  readonly name: string;
  /** One sentence for `--help` and `docs/settings.md`. */
  readonly about: string;
  /** What the value is, in words: `duration`, `whole number`, … */
  readonly kind: string;
  /** Text taken when nothing is set; absent = required, unless `optional`. */
  readonly fallback?: string;
  readonly optional?: boolean;
  /** The value, or a sentence part that says what was expected. */
  readonly parse: (text: string) => { readonly value: T } | { readonly expected: string };
}

export type Settings = Readonly<Record<string, Setting<unknown>>>;

/** The values of a table of settings. */
export type Values<S extends Settings> = { readonly [K in keyof S]: S[K] extends Setting<infer T> ? T : never };

interface Described {
  readonly about: string;
  readonly fallback?: string;
}

/** Any text but an empty one, which is mostly a variable of a script that was never set. */
export function text(name: string, options: Described): Setting<string> {
  return { name, kind: "text", ...options, parse: (value) => (value === "" ? { expected: "a text" } : { value }) };
}

/** Text that may be left out; empty text counts as left out. */
export function optionalText(name: string, options: { readonly about: string }): Setting<string | undefined> {
  return {
    name,
    kind: "text",
    ...options,
    optional: true,
    parse: (value) => ({ value: value === "" ? undefined : value }),
  };
}

/** Words separated by commas. */
export function list(name: string, options: Described): Setting<readonly string[]> {
  return {
    name,
    kind: "list, separated by commas",
    ...options,
    parse: (value) => ({
      value: value
        .split(",")
        .map((word) => word.trim())
        .filter((word) => word !== ""),
    }),
  };
}

/** Milliseconds, written as `1m30s`, `500ms` or whole seconds `90`. */
export function duration(name: string, options: Described): Setting<number> {
  return {
    name,
    kind: "duration",
    ...options,
    parse: (value) => {
      const parsed = parseDuration(value);
      return parsed === undefined ? { expected: "a duration such as 30s or 1m30s" } : { value: parsed };
    },
  };
}

/** A whole number within bounds. */
export function whole(
  name: string,
  options: Described & { readonly min?: number; readonly max?: number },
): Setting<number> {
  const { min = 0, max = Number.MAX_SAFE_INTEGER, ...described } = options;
  return {
    name,
    kind: "whole number",
    ...described,
    parse: (value) => {
      const parsed = /^\d{1,16}$/.test(value) ? Number(value) : Number.NaN;
      return parsed >= min && parsed <= max ? { value: parsed } : { expected: `a whole number from ${min} to ${max}` };
    },
  };
}

/** A TCP port; 0 = any free one. */
export function port(name: string, options: Described): Setting<number> {
  return { ...whole(name, { ...options, max: 65_535 }), kind: "port" };
}

/** true or false, in the words of contract §1.3. */
export function flag(name: string, options: Described): Setting<boolean> {
  return {
    name,
    kind: "true or false",
    ...options,
    parse: (value) => {
      const parsed = parseBoolean(value);
      return parsed === undefined ? { expected: "true or false" } : { value: parsed };
    },
  };
}

/** One of a few words. */
export function choice<const T extends string>(name: string, words: readonly T[], options: Described): Setting<T> {
  return {
    name,
    kind: words.join(" | "),
    ...options,
    parse: (value) => {
      const found = words.find((word) => word === value);
      return found === undefined ? { expected: `one of ${words.join(", ")}` } : { value: found };
    },
  };
}
