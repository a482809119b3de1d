import { labelKey } from "../../api/schemas/key-rules.ts";
import { keyReader } from "../labels/key-reader.ts";
import type { KeyedTexts } from "../labels/keys.ts";
import { scaleBounds, type ScaleBounds } from "./scale-bounds.ts";

/** How one function scales (contract §5.1). Durations are milliseconds. */
export interface ScaleRules extends ScaleBounds {
  /** Whether it goes to zero after `zeroDuration` without calls. */
  readonly zero: boolean;
  readonly zeroDuration: number;
  /** What it is scaled by: calls per second, calls in flight, milli-CPU, queued calls. */
  readonly type: (typeof labelKey.scaleType.words)[number];
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
  const read = keyReader("label", labels);
  return {
    ...scaleBounds(labels),
    zero: read(labelKey.scaleZero) ?? false,
    zeroDuration: read(labelKey.scaleZeroDuration) ?? 120_000,
    type: read(labelKey.scaleType) ?? "rps",
    target: read(labelKey.scaleTarget) ?? 50,
    targetProportion: read(labelKey.scaleTargetProportion) ?? 0.9,
    downWindow: read(labelKey.scaleDownWindow) ?? 0,
  };
}

const unlabelled: ScaleRules = scaleRules(undefined);

/** As `scaleRules`, but unusable labels, which an older version may have accepted, count as absent. */
export function usableScaleRules(labels: KeyedTexts): ScaleRules {
  if (labels === undefined) return unlabelled;
  try {
    return scaleRules(labels);
  } catch {
    return unlabelled;
  }
}
