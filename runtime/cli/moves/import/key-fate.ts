import { nearestName } from "../../../api/closest-name.ts";
import { parseDuration } from "../../../api/duration.ts";
import { keyPrefixes } from "../../../api/names.ts";
import {
  annotationKey,
  annotationRules,
  expectedOf,
  labelRules,
  type KeyRules,
} from "../../../api/schemas/key-rules.ts";

const [ours, theirs] = keyPrefixes;

/** Kinds of keys that the platform reads. */
export type KeyKind = "labels" | "annotations";

const rulesOf: Readonly<Record<KeyKind, KeyRules>> = { labels: labelRules, annotations: annotationRules };

/** What becomes of a label or annotation. */
type KeyFate =
  | { readonly kind: "kept"; readonly key: string; readonly value: string; readonly note?: string }
  | { readonly kind: "refused"; readonly why: string; readonly instead?: string };

/** The key that says whether the gateway asks for credentials before it calls a function. */
export const authKey = ours + annotationKey.auth.name;

/**
 * What becomes of a key and its value. A key of the platform with a value that it refuses is left out; with
 * `rename`, one below `com.openfaas.` that the platform reads gets the prefix `com.service.`. `sample` is the value that
 * is checked, undefined when it is not known yet.
 */
export function fateOfKey(
  kind: KeyKind,
  key: string,
  value: string,
  { rename, sample }: { readonly rename: boolean; readonly sample: string | undefined },
): KeyFate {
  const prefix = keyPrefixes.find((each) => key.startsWith(each));
  if (prefix === undefined) return { kind: "kept", key, value };
  const name = key.slice(prefix.length);
  const seconds = kind === "annotations" ? delayInSeconds(name, value) : undefined;
  if (seconds !== undefined) return fateOfKey(kind, `${prefix}${name}Seconds`, seconds, { rename, sample: seconds });
  const rules = rulesOf[kind];
  const rule = Object.hasOwn(rules, name) ? rules[name] : undefined;
  if (rule === undefined) {
    if (prefix === theirs) return { kind: "kept", key, value, note: "kept; Weir does not read it" };
    const near = nearestName(name, Object.keys(rules));
    return {
      kind: "refused",
      why: `Weir refuses unknown ${kind} below ${ours}`,
      ...(near === undefined ? {} : { instead: ours + near }),
    };
  }
  if (sample !== undefined && rule.parse(sample) === undefined)
    return { kind: "refused", why: `"${value}" is refused`, instead: expectedOf(rule) };
  return { kind: "kept", key: rename ? ours + name : key, value };
}

/** Whole seconds of `health.http.initialDelay: 30s`, which Weir has as `initialDelaySeconds`. */
function delayInSeconds(name: string, value: string): string | undefined {
  if (!/^(?:health|ready)\.http\.initialDelay$/.test(name)) return undefined;
  const delay = parseDuration(value);
  return delay === undefined ? value : String(Math.ceil(delay / 1_000));
}
