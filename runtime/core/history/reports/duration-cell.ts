import { durationCellCount } from "../rollups/duration-cells.ts";

const perDoubling = 4;
const [quarter, half, threeQuarters] = [2 ** 0.25, 2 ** 0.5, 2 ** 0.75] as const;
/** Milliseconds up to which cells differ. */
const longest = 2 ** (durationCellCount / perDoubling - 1);

/** The cell in which a duration is counted, milliseconds. */
export function durationCell(duration: number): number {
  if (duration <= 1) return Math.max(0, Math.ceil(duration * perDoubling) - 1);
  if (duration >= longest) return durationCellCount - 1;
  const doublings = 32 - Math.clz32(Math.ceil(duration) - 1);
  const first = doublings * perDoubling;
  const ratio = duration / 2 ** (doublings - 1);
  if (ratio <= half) return ratio <= quarter ? first : first + 1;
  return ratio <= threeQuarters ? first + 2 : first + 3;
}
