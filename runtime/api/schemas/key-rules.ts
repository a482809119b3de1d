import { parseBoolean } from "../boolean.ts";
import { formatDuration, longestDuration, parseDuration } from "../duration.ts";
import { grammarRule, isSecretName, namePattern } from "../grammar.ts";
import { annotation, label, localAnnotation, namespaceMarker } from "../names.ts";

/** Bounds of a value; durations in milliseconds, bounds included unless they say `above`. */
type KeyBounds =
  | { readonly kind: "choice"; readonly words: readonly string[] }
  | { readonly kind: "boolean" }
  | { readonly kind: "whole"; readonly min: number; readonly max: number; readonly digits: number }
  | { readonly kind: "number"; readonly above: number; readonly max: number }
  /** `setting` may bound it further; code that knows settings shows its name in place of `max`. */
  | { readonly kind: "duration"; readonly min: number; readonly max: number; readonly setting?: string }
  | { readonly kind: "text"; readonly pattern: string; readonly maxLength: number; readonly expected: string };

/**
 * A key of the platform in labels or annotations: its name without prefix, the values it may have, and their meaning.
 * The parser, the API server's rules and the documents are all derived from it.
 */
export type KeyRule<T = unknown> = KeyBounds & {
  readonly name: string;
  /** Undefined for an invalid value. */
  readonly parse: (value: string) => T | undefined;
};

/** Rules by the name of the key without prefix. */
export type KeyRules = Readonly<Record<string, KeyRule>>;

/** Sources of regular expressions: a whole number of at most `digits` digits, and a number. */
export const wholePattern = (digits: number): string => `^[0-9]{1,${digits}}$`;
export const numberPattern = "^[0-9]{1,15}(?:[.][0-9]{1,9})?$";

/** Limit for all keys and values of annotations, and of envVars: in characters and in bytes. */
export const mostText = 262_144;

/** Contract §5.1: most replicas of a function, and its bounds where labels set none. */
export const mostReplicas = 1_000;
export const defaultScale = { min: 1, max: 20 } as const;

const hour = 3_600_000;
/** Longest that requests of ended calls are kept to be shown and replayed, milliseconds. */
export const longestKeptRequest = 168 * hour;
const secretLabel = "[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?";

/** Labels that say how a function is scaled (contract §5.1). */
export const labelKey = {
  scaleMin: whole(label.scaleMin, 1, mostReplicas, 4),
  scaleMax: whole(label.scaleMax, 1, mostReplicas, 4),
  scaleZero: boolean(label.scaleZero),
  scaleZeroDuration: duration(label.scaleZeroDuration, 10_000),
  scaleType: choice(label.scaleType, "rps", "capacity", "cpu", "queue"),
  scaleTarget: number(label.scaleTarget, 0, Infinity),
  scaleTargetProportion: number(label.scaleTargetProportion, 0, 1),
  scaleDownWindow: duration(label.scaleDownWindow, 0, 300_000),
};

/** Annotations that are settings of a function (contract §2.1). */
export const annotationKey = {
  queue: text(annotation.queue, namePattern.queue, 63, grammarRule.queue),
  retryAttempts: whole(annotation.retryAttempts, 0, 100),
  retryCodes: codes(annotation.retryCodes),
  retryMinWait: duration(annotation.retryMinWait),
  retryMaxWait: duration(annotation.retryMaxWait),
  auth: choice(annotation.auth, "required", "none"),
  authClaims: claimNames(annotation.authClaims),
  callbackSecret: text(annotation.callbackSecret, namePattern.secret, 253, grammarRule.secret),
  concurrencyMax: whole(annotation.concurrencyMax, 0, 100_000),
  corsOrigins: listOf(
    annotation.corsOrigins,
    "(?:[*]|https?://[-a-z0-9._:\\[\\]]+)",
    'origins in lower case separated by commas, such as "https://app.example.com", or "*"',
  ),
  corsMethods: listOf(annotation.corsMethods, "[A-Z]+", "methods separated by commas"),
  corsHeaders: listOf(annotation.corsHeaders, "(?:[*]|[-_A-Za-z0-9]+)", 'names of headers separated by commas, or "*"'),
  corsCredentials: boolean(annotation.corsCredentials),
  corsMaxAge: duration(annotation.corsMaxAge, 0, 24 * hour),
  resultTtl: duration(annotation.resultTtl, 0, 24 * hour),
  historyBodies: duration(annotation.historyBodies, 0, longestKeptRequest),
  timeout: duration(annotation.timeout, 100, 24 * hour, "timeout_max"),
  protocol: choice(annotation.protocol, "http1", "h2c"),
  profile: secretNames(annotation.profile),
  serviceAccount: text(annotation.serviceAccount, namePattern.secret, 253, "the name of a service account"),
  historySync: choice(annotation.historySync, "all", "none"),
};

/** Annotations that configure the health probe and the readiness probe of a replica. */
export const healthKey = probeKeys(annotation.healthPath);
export const readyKey = probeKeys(annotation.readyPath);

/** Annotations of a function that is run from a folder of this machine, which no cluster has. */
export const localKey = {
  folder: text(
    localAnnotation.folder,
    "^/[^\\x00-\\x1f\\x7f]*$",
    4_096,
    "the absolute path of a folder on this machine",
  ),
  prepare: commands(localAnnotation.prepare),
};

/** The marker of a namespace of functions, in its labels or annotations. */
export const namespaceKey = choice(namespaceMarker.name, namespaceMarker.value);

/** Rules for the labels of a function that the platform reads. */
export const labelRules = byName(labelKey);
/** Rules for the annotations of a function that the platform reads. */
export const annotationRules: KeyRules = { ...byName(annotationKey), ...byName(healthKey), ...byName(readyKey) };

/** Rules for the annotations that provider `local` reads in addition. */
export const localAnnotationRules = byName(localKey);

/** Annotations of the API that this version does not support yet, without prefix. */
export const annotationsNotBuilt: readonly string[] = ["publish.on-done", "publish.on-failed"];

/** What is expected of a value, in words; `most` replaces the longest duration. */
export function expectedOf(rule: KeyBounds, most?: string): string {
  switch (rule.kind) {
    case "choice":
      return rule.words.map((word) => `"${word}"`).join(" or ");
    case "boolean":
      return "true or false";
    case "whole":
      return `a whole number from ${rule.min} to ${rule.max}`;
    case "number":
      return rule.max === Infinity
        ? `a number above ${rule.above}`
        : `a number above ${rule.above}, at most ${rule.max}`;
    case "duration":
      return `a duration from ${formatDuration(rule.min)} to ${most ?? formatDuration(rule.max)}`;
    case "text":
      return rule.expected;
    default:
      return rule satisfies never;
  }
}

function choice<const Word extends string>(name: string, ...words: readonly Word[]) {
  const parse = (value: string) => words.find((word) => word === value);
  return { name, kind: "choice", words, parse } as const satisfies KeyRule<Word>;
}

function boolean(name: string) {
  return { name, kind: "boolean", parse: parseBoolean } as const satisfies KeyRule<boolean>;
}

function whole(name: string, min: number, max: number, digits = 15) {
  const form = new RegExp(wholePattern(digits));
  const parse = (value: string) => {
    const parsed = form.test(value) ? Number(value) : Number.NaN;
    return parsed >= min && parsed <= max ? parsed : undefined;
  };
  return { name, kind: "whole", min, max, digits, parse } as const satisfies KeyRule<number>;
}

function number(name: string, above: number, max: number) {
  const form = new RegExp(numberPattern);
  const parse = (value: string) => {
    const parsed = form.test(value) ? Number(value) : Number.NaN;
    return parsed > above && parsed <= max ? parsed : undefined;
  };
  return { name, kind: "number", above, max, parse } as const satisfies KeyRule<number>;
}

function duration(name: string, min = 0, max = longestDuration, setting?: string) {
  const parse = (value: string) => {
    const parsed = parseDuration(value);
    return parsed !== undefined && parsed >= min && parsed <= max ? parsed : undefined;
  };
  return {
    name,
    kind: "duration",
    min,
    max,
    ...(setting === undefined ? {} : { setting }),
    parse,
  } as const satisfies KeyRule<number>;
}

function text(name: string, pattern: string, maxLength: number, expected: string) {
  const form = new RegExp(pattern);
  const parse = (value: string) => (value.length <= maxLength && form.test(value) ? value : undefined);
  return { name, kind: "text", pattern, maxLength, expected, parse } as const satisfies KeyRule<string>;
}

function codes(name: string) {
  const pattern = "^\\s*(?:[45][0-9]{2}\\s*(?:,\\s*[45][0-9]{2}\\s*)*)?$";
  const rule = text(name, pattern, 1_024, "statuses from 400 to 599 separated by commas");
  const parse = (value: string) =>
    rule.parse(value)?.match(/\d+/g)?.map(Number) ?? (value.trim() === "" ? [] : undefined);
  return { ...rule, parse } as const satisfies KeyRule<readonly number[]>;
}

/** That it is JSON is beyond the pattern: only `parse` checks it. */
function commands(name: string) {
  const rule = text(name, "^\\s*\\[[^\\x00]*\\]\\s*$", 16_384, 'a JSON array of commands such as ["npm ci"]');
  const parse = (value: string) => {
    if (rule.parse(value) === undefined) return undefined;
    try {
      const list: unknown = JSON.parse(value);
      return Array.isArray(list) && list.every(isCommand) ? list : undefined;
    } catch {
      return undefined;
    }
  };
  return { ...rule, parse } as const satisfies KeyRule<readonly string[]>;
}

function isCommand(value: unknown): value is string {
  return typeof value === "string" && value.trim() !== "" && !value.includes("\0");
}

function claimNames(name: string) {
  return listOf(name, "[!-+--~]+", "names of claims separated by commas");
}

/** A list of what the pattern `word` matches. */
function listOf(name: string, word: string, expected: string) {
  const rule = text(name, `^ *${word}(?: *, *${word})* *$`, 4_096, expected);
  const parse = (value: string) =>
    rule
      .parse(value)
      ?.split(",")
      .map((each) => each.trim());
  return { ...rule, parse } as const satisfies KeyRule<readonly string[]>;
}

/** The length limit of each name is beyond a regular expression: only `parse` checks it. */
function secretNames(name: string) {
  const pattern = `^\\s*${secretLabel}(?:(?:\\.|\\s*,\\s*)${secretLabel})*\\s*$`;
  const parse = (value: string) => {
    const names = value.split(",").map((each) => each.trim());
    return names.every(isSecretName) ? names : undefined;
  };
  const rule = text(name, pattern, mostText, "names separated by commas");
  return { ...rule, parse } as const satisfies KeyRule<readonly string[]>;
}

/** The keys of a probe, all named after the one of its path. */
function probeKeys(path: string) {
  const beside = (name: string) => path.replace(/path$/, name);
  return {
    path: text(path, "^/[!-~]*$", 1_024, 'a path that begins with "/"'),
    initialDelaySeconds: whole(beside("initialDelaySeconds"), 0, 3_600),
    periodSeconds: whole(beside("periodSeconds"), 1, 3_600),
    timeoutSeconds: whole(beside("timeoutSeconds"), 1, 3_600),
    failureThreshold: whole(beside("failureThreshold"), 1, 1_000),
  };
}

function byName(keys: Readonly<Record<string, KeyRule>>): KeyRules {
  return Object.fromEntries(Object.values(keys).map((rule) => [rule.name, rule]));
}
