import { booleanWords } from "../boolean.ts";
import { durationPattern } from "../duration.ts";
import { expectedOf, numberPattern, wholePattern, type KeyRule, type KeyRules } from "../schemas/key-rules.ts";
import { keyPrefixes } from "../names.ts";

/** A rule that the Kubernetes API server checks in addition to the schema, in the Common Expression Language. */
export interface CelRule {
  readonly rule: string;
  /** What was expected; the API server adds the field. */
  readonly message: string;
  /** The field that the message is about, below the one that has the rule. */
  readonly fieldPath?: string;
  /** Whether the rule reads the previous value; `oldSelf` is an optional then. */
  readonly optionalOldSelf?: true;
}

const [ours, theirs] = keyPrefixes;

/** The part before the `/` in a key of labels, annotations or amounts is a DNS name. */
export const keyPrefixRule: CelRule = {
  rule: "self.all(key, key.indexOf('/') <= 253)",
  message: "expected keys with at most 253 characters before the /",
};

/** `text` as a literal of CEL. */
export function celText(text: string): string {
  return `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
}

/** The rules for keys of a map of labels or annotations: each under either prefix, ours first. */
export function keyCelRules(rules: KeyRules): CelRule[] {
  return Object.entries(rules).map(([name, rule]) => ({
    rule: ofEither(name, (value) => celTest(rule, value)),
    message: `${ours}${name}: expected ${expectedOf(rule)}`,
  }));
}

/** The first of two keys may not exceed the second; an absent key counts as its default, an invalid one is skipped. */
export function notAboveCelRule(
  map: string,
  [lower, upper]: readonly [KeyRule<number>, KeyRule<number>],
  [whenNoLower, whenNoUpper]: readonly [string, string],
): CelRule {
  const [low, high] = [valueOf(map, lower.name, whenNoLower), valueOf(map, upper.name, whenNoUpper)];
  const pattern = celText(lower.kind === "whole" ? wholePattern(lower.digits) : durationPattern);
  const read = lower.kind === "whole" ? (value: string) => `int(${value})` : celDuration;
  return {
    rule: `!(${low}).matches(${pattern}) || !(${high}).matches(${pattern}) || ${read(`(${low})`)} <= ${read(`(${high})`)}`,
    message: `${ours}${lower.name}: expected at most ${ours}${upper.name}`,
  };
}

/** An expression for the text under key `name` with either prefix, or `fallback`. */
export function valueOf(map: string, name: string, fallback: string): string {
  const [our, their] = [celText(ours + name), celText(theirs + name)];
  return `${our} in ${map} ? ${map}[${our}] : ${their} in ${map} ? ${map}[${their}] : ${celText(fallback)}`;
}

/** An expression for whether `value` is a duration such as `1m30s` between two bounds in milliseconds. */
export function celDurationWithin(value: string, min: number, max: number): string {
  const bounds = [
    ...(min > 0 ? [`${celDuration(value)} >= duration('${min - 1}.5ms')`] : []),
    // Fractions of a millisecond are rounded, as in `parseDuration`.
    `${celDuration(value)} < duration('${max}.5ms')`,
  ];
  return [`${value}.matches(${celText(durationPattern)})`, ...bounds].join(" && ");
}

function ofEither(name: string, test: (value: string) => string): string {
  const [our, their] = [celText(ours + name), celText(theirs + name)];
  return `${our} in self ? ${test(`self[${our}]`)} : !(${their} in self) || ${test(`self[${their}]`)}`;
}

function celTest(rule: KeyRule, value: string): string {
  switch (rule.kind) {
    case "choice":
      return `${value} in [${rule.words.map(celText).join(", ")}]`;
    case "boolean":
      return `${value}.lowerAscii() in [${booleanWords.map(celText).join(", ")}]`;
    case "whole":
      return `${value}.matches(${celText(wholePattern(rule.digits))}) && int(${value}) >= ${rule.min} && int(${value}) <= ${rule.max}`;
    case "number": {
      const upper = rule.max === Infinity ? "" : ` && double(${value}) <= ${celDouble(rule.max)}`;
      return `${value}.matches(${celText(numberPattern)}) && double(${value}) > ${celDouble(rule.above)}${upper}`;
    }
    case "duration":
      return celDurationWithin(value, rule.min, rule.max);
    case "text":
      return `size(${value}) <= ${rule.maxLength} && ${value}.matches(${celText(rule.pattern)})`;
    default:
      return rule satisfies never;
  }
}

/** Whole seconds may lack their unit. */
function celDuration(value: string): string {
  return `duration(${value}.matches('[0-9]$') ? ${value} + 's' : ${value})`;
}

function celDouble(value: number): string {
  return Number.isInteger(value) ? `${value}.0` : String(value);
}
