import { parseBoolean } from "../api/boolean.ts";
import { formatDuration, longestDuration, parseDuration } from "../api/duration.ts";

/**
 * A parsed value, or the part of a sentence that says what was expected; `wrong` are those parts of a text with several
 * that break the rule.
 */
export type Parsed<T> = { readonly value: T } | { readonly expected: string; readonly wrong?: string | undefined };

/**
 * One setting of a process: its snake_case name is the environment variable and the key of the `--config` file,
 * the flag is the same in kebab-case.
 */
export interface Setting<T> {
  readonly name: string;
  /** One sentence for `--help` and `docs/reference/settings.md`. */
  readonly about: string;
  /** What the value is, in words: `duration`, `whole number`, … */
  readonly kind: string;
  /** What else the value must be, in words: `1s to 1h`. */
  readonly limits?: string;
  /** What a number counts. */
  readonly unit?: string;
  /** Text used when nothing is set; absent = required, unless `optional`. */
  readonly fallback?: string;
  readonly optional?: boolean;
  readonly parse: (text: string) => Parsed<T>;
  /** The text as messages may show it, where it could hold a secret. */
  readonly show?: (text: string) => string;
  /** Reads a setting without a text form: its value comes only from the file; each problem begins with the name. */
  readonly parseFile?: (content: unknown) => { readonly value: T } | { readonly problems: readonly string[] };
}

export type Settings = Readonly<Record<string, Setting<unknown>>>;

/** The values of a table of settings. */
export type Values<S extends Settings> = { readonly [K in keyof S]: S[K] extends Setting<infer T> ? T : never };

interface Described {
  readonly about: string;
  readonly fallback?: string;
}

/** A rule that a text must match, and the same in words. */
export interface TextRule {
  readonly test: (text: string) => boolean;
  readonly expected: string;
  /** Those parts of a text with several that break the rule; undefined if it has none. */
  readonly wrongParts?: (text: string) => string | undefined;
}

const anyText: TextRule = { test: (value) => value !== "", expected: "a text" };

/** Text that matches a rule. Without one, any text but an empty one, which is mostly a script's unset variable. */
export function text(name: string, options: Described & { readonly rule?: TextRule }): Setting<string> {
  const { rule = anyText, ...described } = options;
  return {
    name,
    kind: "text",
    ...described,
    parse: (value) => (rule.test(value) ? { value } : broken(rule, value)),
  };
}

/** Text that may be left out; empty text counts as left out. */
export function optionalText(
  name: string,
  options: { readonly about: string; readonly rule?: TextRule },
): Setting<string | undefined> {
  const { rule = anyText, ...described } = options;
  return {
    name,
    kind: "text",
    ...described,
    optional: true,
    parse: (value) =>
      value === "" || rule.test(value) ? { value: value === "" ? undefined : value } : broken(rule, value),
  };
}

function broken({ expected, wrongParts }: TextRule, value: string): Parsed<never> {
  return { expected, wrong: wrongParts?.(value) };
}

/** Words separated by commas, each matching the rule. */
export function list(name: string, options: Described & { readonly rule?: TextRule }): Setting<readonly string[]> {
  const { rule = anyText, ...described } = options;
  return {
    name,
    kind: "list, separated by commas",
    ...described,
    parse: (words) => {
      const value = words
        .split(",")
        .map((word) => word.trim())
        .filter((word) => word !== "");
      const wrong = value.filter((word) => !rule.test(word)).join(",");
      return wrong === "" ? { value } : { expected: `${rule.expected}, separated by commas`, wrong };
    },
  };
}

/** Milliseconds, written as `1m30s`, `500ms` or whole seconds `90`; bounds in milliseconds. */
export function duration(
  name: string,
  options: Described & { readonly min?: number; readonly max?: number },
): Setting<number> {
  const { min = 0, max = longestDuration, ...described } = options;
  const limits = `${formatDuration(min)} to ${formatDuration(max)}`;
  return {
    name,
    kind: "duration",
    limits,
    ...described,
    parse: (value) => {
      const parsed = parseDuration(value);
      if (parsed === undefined) return { expected: "a duration such as 30s or 1m30s" };
      return parsed >= min && parsed <= max ? { value: parsed } : { expected: `a duration from ${limits}` };
    },
  };
}

/** A duration that may be left out; empty text counts as left out. */
export function optionalDuration(
  name: string,
  options: { readonly about: string; readonly min?: number; readonly max?: number },
): Setting<number | undefined> {
  const { parse, ...described } = duration(name, options);
  return { ...described, optional: true, parse: (value) => (value === "" ? { value: undefined } : parse(value)) };
}

/** A whole number within bounds; `unit` is what it counts. */
export function whole(
  name: string,
  options: Described & { readonly min?: number; readonly max?: number; readonly unit?: string },
): Setting<number> {
  const { min = 0, max = Number.MAX_SAFE_INTEGER, ...described } = options;
  const limits = max === Number.MAX_SAFE_INTEGER ? `${min} or more` : `${min} to ${max}`;
  return {
    name,
    kind: "whole number",
    limits,
    ...described,
    parse: (value) => {
      const parsed = /^\d{1,16}$/.test(value) ? Number(value) : Number.NaN;
      return parsed >= min && parsed <= max ? { value: parsed } : { expected: `a whole number, ${limits}` };
    },
  };
}

/** A whole number that may be left out; `about` says what it is derived from then. */
export function optionalWhole(
  name: string,
  options: { readonly about: string; readonly min?: number; readonly max?: number; readonly unit?: string },
): Setting<number | undefined> {
  return { ...whole(name, options), optional: true };
}

/** A part of a whole, from 0 to 1. */
export function share(name: string, options: Described): Setting<number> {
  const limits = "0 to 1";
  return {
    name,
    kind: "number",
    limits,
    ...options,
    parse: (value) =>
      /^(?:0(?:\.\d{1,9})?|1(?:\.0{1,9})?)$/.test(value)
        ? { value: Number(value) }
        : { expected: `a number from ${limits}` },
  };
}

/** A TCP port; 0 = any free one. */
export function port(name: string, options: Described): Setting<number> {
  return { ...whole(name, { ...options, max: 65_535 }), kind: "port" };
}

/** true or false, spelt as in contract §1.3. */
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

const none = "none";

/** A Kubernetes quantity such as `512Mi` or `0.5`, or `none`, which is read as undefined. */
export function quantity(name: string, options: Described): Setting<string | undefined> {
  return {
    name,
    kind: "quantity",
    limits: "or none",
    ...options,
    parse: (value) => {
      if (value === none) return { value: undefined };
      const isQuantity = /^(?!0+(?:\.0+)?(?:$|[a-zA-Z]))\d{1,15}(?:\.\d{1,9})?(?:m|k|[KMGTPE]i?)?$/.test(value);
      return isQuantity ? { value } : { expected: "a quantity above 0 such as 512Mi or 0.5, or none" };
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
