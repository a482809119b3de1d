import { PlatformError } from "../../api/platform-error.ts";
import { label } from "../../api/names.ts";
import { sentKey, type KeyedTexts } from "../labels/keys.ts";

/** Fewest and most replicas of a function while it is not scaled to zero. */
export interface ScaleBounds {
  readonly min: number;
  readonly max: number;
}

/** Contract §5.1. */
const mostReplicas = 1_000;
const defaults: ScaleBounds = { min: 1, max: 20 };

/**
 * The bounds that the labels set.
 * @throws PlatformError `validation_failed` unless 1 ≤ min ≤ max ≤ 1 000
 */
export function scaleBounds(labels: KeyedTexts): ScaleBounds {
  const min = count(labels, label.scaleMin) ?? defaults.min;
  const max = count(labels, label.scaleMax) ?? defaults.max;
  if (min > max) {
    throw new PlatformError(
      "validation_failed",
      `Cannot scale between ${min} and ${max} replicas: scale.min is above scale.max`,
    );
  }
  return { min, max };
}

function count(labels: KeyedTexts, name: string): number | undefined {
  const key = sentKey(labels, name);
  const text = key === undefined ? undefined : labels?.[key];
  if (text === undefined) return undefined;
  const value = /^\d{1,4}$/.test(text) ? Number(text) : 0;
  if (value < 1 || value > mostReplicas) {
    throw new PlatformError(
      "validation_failed",
      `Cannot read label "${key}": expected a whole number from 1 to ${mostReplicas}, got "${text}"`,
    );
  }
  return value;
}
