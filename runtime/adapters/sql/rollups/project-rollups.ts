import type { RollupPoint } from "../../../core/history/rollups/rollup.ts";
import { allFunctions, intervalsOf, rollupStepCode } from "./rollup-codes.ts";
import { callsIn, withPoint, type StoredRollup } from "./stored-rollup.ts";

/** The key of an interval of one source. */
export interface RollupKey {
  /** Its code. */
  readonly step: number;
  readonly fn: number;
  readonly at: number;
  readonly source: number;
}

/** A point with the ids of its names. */
export interface NamedPoint {
  readonly point: RollupPoint;
  readonly fn: number;
  readonly source: number;
}

export interface RollupRow extends RollupKey {
  readonly calls: number;
  readonly counts: StoredRollup;
}

/** Of all intervals that points belong to, each once. */
export function rollupKeys(points: readonly NamedPoint[]): readonly RollupKey[] {
  const keys = points.flatMap((point) => keysOf(point).flatMap(({ own, all }) => [own, all]));
  return [...new Map(keys.map((key) => [rollupKeyText(key), key])).values()];
}

export function rollupKeyText({ step, fn, at, source }: RollupKey): string {
  return `${step}/${fn}/${at}/${source}`;
}

/**
 * The intervals that points change. The interval of 10 s tells whether a point was added before, so one that began
 * before `since`, from when such intervals are kept, is ignored. `stored` is by `rollupKeyText`.
 */
export function projectRollups(
  points: readonly NamedPoint[],
  since: number,
  stored: ReadonlyMap<string, StoredRollup>,
): readonly RollupRow[] {
  const changed = new Map<string, RollupRow>();
  const countsOf = (key: string): StoredRollup | undefined => changed.get(key)?.counts ?? stored.get(key);
  const merge = (key: RollupKey, point: RollupPoint): void => {
    const text = rollupKeyText(key);
    const counts = withPoint(countsOf(text) ?? {}, point, key.at);
    changed.set(text, { ...key, calls: callsIn(counts), counts });
  };
  for (const named of points) {
    const keys = keysOf(named);
    const finest = keys[0]?.own;
    if (finest === undefined || finest.at < since || countsOf(rollupKeyText(finest)) !== undefined) continue;
    const { scalings: _, ...counted } = named.point;
    for (const { own, all } of keys) {
      merge(own, named.point);
      // Without its function a scaling says nothing.
      merge(all, counted);
    }
  }
  return [...changed.values()];
}

/** The finest step first. */
function keysOf({ point, fn, source }: NamedPoint): readonly { readonly own: RollupKey; readonly all: RollupKey }[] {
  return intervalsOf(point.at).map(({ step, begin }) => {
    const own = { step: rollupStepCode[step], fn, at: begin, source };
    return { own, all: { ...own, fn: allFunctions } };
  });
}
