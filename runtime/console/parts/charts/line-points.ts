/** A point of a line, pixels; joined: the line leads there from the point before. */
export interface LinePoint {
  readonly x: number;
  readonly y: number;
  readonly isJoined: boolean;
}

/** What a scale goes from and to. */
export interface LineScale {
  readonly min?: number | null;
  readonly max?: number | null;
}

/** The values that are drawn, and where. */
export interface LineArea {
  /** Indexes of the first and the last value that are drawn. */
  readonly from: number;
  readonly to: number;
  readonly bbox: { readonly left: number; readonly top: number; readonly width: number; readonly height: number };
  readonly across: LineScale;
  readonly up: LineScale;
}

/** Where a line leads through; values that are not known are holes. */
export function linePoints(
  times: ArrayLike<number>,
  values: ArrayLike<number | null | undefined>,
  { from, to, bbox, across, up }: LineArea,
): readonly LinePoint[] {
  const [first, low] = [across.min ?? 0, up.min ?? 0];
  const perTime = bbox.width / ((across.max ?? 0) - first || 1);
  const perValue = bbox.height / ((up.max ?? 0) - low || 1);
  const points: LinePoint[] = [];
  let isJoined = false;
  for (let index = from; index <= to; index++) {
    const value = values[index];
    if (value === null || value === undefined) {
      isJoined = false;
      continue;
    }
    const x = bbox.left + ((times[index] ?? 0) - first) * perTime;
    const y = bbox.top + bbox.height - (value - low) * perValue;
    points.push({ x, y, isJoined });
    isJoined = true;
  }
  return points;
}
