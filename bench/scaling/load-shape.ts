/** Calls per second at a time in seconds since the beginning. */
export type LoadShape = (at: number) => number;

/** Straight lines from point to point; constant before the first and after the last. */
export function ramp(...points: readonly (readonly [at: number, rate: number])[]): LoadShape {
  return (at) => {
    const after = points.findIndex(([begin]) => begin > at);
    const [from, left] = points.at(after === -1 ? -1 : Math.max(0, after - 1)) ?? [0, 0];
    const [to, right] = points.at(after) ?? [0, 0];
    return at <= from || to <= from ? left : left + ((right - left) * (at - from)) / (to - from);
  };
}

/** `low`, but `high` between two times. */
export function spike(options: {
  readonly low: number;
  readonly high: number;
  readonly from: number;
  readonly to: number;
}): LoadShape {
  return (at) => (at >= options.from && at < options.to ? options.high : options.low);
}

/** From `low` up to `high` and back in each `period` seconds, starting `ahead` seconds into a period. */
export function sine(options: {
  readonly low: number;
  readonly high: number;
  readonly period: number;
  readonly ahead?: number;
}): LoadShape {
  const { low, high, period, ahead = 0 } = options;
  return (at) => low + ((high - low) * (1 - Math.cos((2 * Math.PI * (at + ahead)) / period))) / 2;
}

/** `rate`, but nothing between two times. */
export function sleep(options: { readonly rate: number; readonly from: number; readonly to: number }): LoadShape {
  return spike({ low: options.rate, high: 0, from: options.from, to: options.to });
}

/** Due times of the calls of `shape` over `seconds` seconds; ascending, in milliseconds. */
export function dueTimes(shape: LoadShape, seconds: number): readonly number[] {
  const due: number[] = [];
  let calls = 0;
  for (let at = 0; at < seconds * 1_000; at += 1) {
    calls += shape(at / 1_000) / 1_000;
    // A sum of thousandths may miss its whole number by a rounding error.
    while (calls + 1e-9 >= due.length + 1) due.push(at);
  }
  return due;
}
