import { longestDuration } from "../duration.ts";
import { grammarRule, namePattern } from "../grammar.ts";
import { annotation, label } from "../names.ts";

/** What the value of a platform key may be; durations in milliseconds, bounds included unless they say `above`. */
export type KeyRule =
  | { readonly kind: "choice"; readonly words: readonly string[] }
  | { readonly kind: "boolean" }
  | { readonly kind: "whole"; readonly min: number; readonly max: number; readonly digits: number }
  | { readonly kind: "number"; readonly above: number; readonly max: number }
  | { readonly kind: "duration"; readonly min: number; readonly max: number }
  | { readonly kind: "text"; readonly pattern: string; readonly maxLength: number; readonly expected: string };

/** Rules by the name of the key without prefix. */
export type KeyRules = Readonly<Record<string, KeyRule>>;

const whole = (min: number, max: number, digits = 15): KeyRule => ({ kind: "whole", min, max, digits });
const duration = (min = 0, max = longestDuration): KeyRule => ({ kind: "duration", min, max });
const choice = (...words: string[]): KeyRule => ({ kind: "choice", words });
const text = (pattern: string, maxLength: number, expected: string): KeyRule => ({
  kind: "text",
  pattern,
  maxLength,
  expected,
});

/** Labels that say how a function is scaled (contract §5.1). */
export const labelRules: KeyRules = {
  [label.scaleMin]: whole(1, 1_000, 4),
  [label.scaleMax]: whole(1, 1_000, 4),
  [label.scaleZero]: { kind: "boolean" },
  [label.scaleZeroDuration]: duration(10_000),
  [label.scaleType]: choice("rps", "capacity", "cpu", "queue"),
  [label.scaleTarget]: { kind: "number", above: 0, max: Infinity },
  [label.scaleTargetProportion]: { kind: "number", above: 0, max: 1 },
  [label.scaleDownWindow]: duration(0, 300_000),
};

const secretLabel = "[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?";

/** Annotations that are settings of a function (contract §2.1). */
export const annotationRules: KeyRules = {
  [annotation.queue]: text(namePattern.queue, 63, grammarRule.queue),
  [annotation.retryAttempts]: whole(0, 100),
  [annotation.retryCodes]: text(
    "^\\s*(?:[45][0-9]{2}\\s*(?:,\\s*[45][0-9]{2}\\s*)*)?$",
    1_024,
    "statuses from 400 to 599 separated by commas",
  ),
  [annotation.retryMinWait]: duration(),
  [annotation.retryMaxWait]: duration(),
  [annotation.auth]: choice("required", "none"),
  [annotation.concurrencyMax]: whole(0, 100_000),
  [annotation.resultTtl]: duration(0, 24 * 3_600_000),
  [annotation.timeout]: duration(100, 24 * 3_600_000),
  [annotation.protocol]: choice("http1", "h2c"),
  [annotation.profile]: text(
    `^\\s*${secretLabel}(?:(?:\\.|\\s*,\\s*)${secretLabel})*\\s*$`,
    262_144,
    "names separated by commas",
  ),
  [annotation.serviceAccount]: text(namePattern.secret, 253, "the name of a service account"),
  ...probeRules("health.http."),
  ...probeRules("ready.http."),
};

/** Annotations that belong to the API and mean nothing to this version yet, without prefix. */
export const annotationsNotBuilt: readonly string[] = [
  "auth.claims",
  "callback.secret",
  "history.bodies",
  "history.sync",
  "local.folder",
  "local.prepare",
  "publish.on-done",
  "publish.on-failed",
];

function probeRules(prefix: string): KeyRules {
  return {
    [`${prefix}path`]: text("^/[!-~]*$", 1_024, 'a path that begins with "/"'),
    [`${prefix}initialDelaySeconds`]: whole(0, 3_600),
    [`${prefix}periodSeconds`]: whole(1, 3_600),
    [`${prefix}timeoutSeconds`]: whole(1, 3_600),
    [`${prefix}failureThreshold`]: whole(1, 1_000),
  };
}
