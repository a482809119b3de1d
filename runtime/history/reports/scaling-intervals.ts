import type { ScalingReport } from "../../core/ports/history-reports.ts";
import { rollupSteps, type RollupPoint, type Scaling } from "../../core/history/rollups/rollup.ts";

/** Name of the source of points that hold scalings. */
const scalingSource = "scaling";
/** Scalings of one function in one interval that are kept; the last ones. */
const maxScalings = 20;
/** Functions and intervals that are gathered at a time. */
const maxIntervals = 10_000;
/** Milliseconds past its end for which an interval waits for late reports. */
const lateness = 2_000;
const { length } = rollupSteps["10s"];

/** Gathers scalings to points: those of one source and time are stored once. */
export class ScalingIntervals {
  readonly #gathered = new Map<string, RollupPoint & { readonly scalings: Scaling[] }>();

  /** False if there is no room. */
  add({ namespace, name, ...scaling }: ScalingReport): boolean {
    const at = scaling.at - (scaling.at % length);
    const key = `${at} ${namespace}/${name}`;
    const point = this.#gathered.get(key);
    if (point === undefined && this.#gathered.size >= maxIntervals) return false;
    if (point === undefined)
      this.#gathered.set(key, { namespace, name, at, source: scalingSource, scalings: [scaling] });
    else {
      point.scalings.push(scaling);
      if (point.scalings.length > maxScalings) point.scalings.shift();
    }
    return true;
  }

  /** The points of intervals that are over, which are not kept any longer; all of them at the end. */
  take(now: number): readonly RollupPoint[] {
    const taken: RollupPoint[] = [];
    for (const [key, point] of this.#gathered) {
      if (point.at + length + lateness > now) continue;
      taken.push(point);
      this.#gathered.delete(key);
    }
    return taken;
  }
}
