import { label } from "../../api/names.ts";
import { keyReader } from "../labels/key-reader.ts";
import type { KeyedTexts } from "../labels/keys.ts";
import { scaleBounds, type ScaleBounds } from "./scale-bounds.ts";

/** What a function is scaled by: calls per second, calls in flight, milli-CPU, queued calls. */
export const scaleTypes = ["rps", "capacity", "cpu", "queue"] as const;

/** How one function scales (contract §5.1). Durations are milliseconds. */
export interface ScaleRules extends ScaleBounds {
  /** Whether it goes to zero after `zeroDuration` without calls. */
  readonly zero: boolean;
  readonly zeroDuration: number;
  readonly type: (typeof scaleTypes)[number];
  readonly target: number;
  readonly targetProportion: number;
  /** 0 = off. */
  readonly downWindow: number;
}

/**
 * The rules that the labels set.
 * @throws PlatformError `validation_failed` for a value that cannot be used
 */
export function scaleRules(labels: KeyedTexts): ScaleRules {
  const keys = keyReader("label", labels);
  return {
    ...scaleBounds(labels),
    zero: keys.boolean(label.scaleZero) ?? false,
    zeroDuration: keys.duration(label.scaleZeroDuration, 10_000) ?? 120_000,
    type: keys.choice(label.scaleType, scaleTypes) ?? "rps",
    target: keys.number(label.scaleTarget, 0, Infinity) ?? 50,
    targetProportion: keys.number(label.scaleTargetProportion, 0, 1) ?? 0.9,
    downWindow: keys.duration(label.scaleDownWindow, 0, 300_000) ?? 0,
  };
}

const known = new WeakMap<object, ScaleRules>();
const unlabelled: ScaleRules = scaleRules(undefined);

/** The same, read once per deployment; labels that cannot be used, as an older version may have let in, count as absent. */
export function knownScaleRules(labels: KeyedTexts): ScaleRules {
  if (labels === undefined) return unlabelled;
  let rules = known.get(labels);
  if (rules === undefined) {
    rules = readable(labels);
    known.set(labels, rules);
  }
  return rules;
}

function readable(labels: KeyedTexts): ScaleRules {
  try {
    return scaleRules(labels);
  } catch {
    return unlabelled;
  }
}
