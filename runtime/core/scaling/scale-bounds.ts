import { PlatformError } from "../../api/platform-error.ts";
import { defaultScale, labelKey } from "../../api/schemas/key-rules.ts";
import { keyReader } from "../labels/key-reader.ts";
import type { KeyedTexts } from "../labels/keys.ts";

/** Minimum and maximum of replicas of a function while it is not scaled to zero. */
export interface ScaleBounds {
  readonly min: number;
  readonly max: number;
}

/**
 * The bounds that the labels set.
 * @throws PlatformError `validation_failed` unless 1 ≤ min ≤ max ≤ 1 000
 */
export function scaleBounds(labels: KeyedTexts): ScaleBounds {
  const read = keyReader("label", labels);
  const min = read(labelKey.scaleMin) ?? defaultScale.min;
  const max = read(labelKey.scaleMax) ?? defaultScale.max;
  if (min > max) {
    throw new PlatformError(
      "validation_failed",
      `Cannot scale between ${min} and ${max} replicas: scale.min is above scale.max`,
    );
  }
  return { min, max };
}
