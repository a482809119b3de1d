/** A number from 0 to below 1. */
export type Random = () => number;

/** The same numbers for the same seed (mulberry32). */
export function seededRandom(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** A whole number from 0 to below `limit`. */
export function below(random: Random, limit: number): number {
  return Math.floor(random() * limit);
}

/** One of `items`, which holds at least one. */
export function pick<T>(random: Random, items: readonly [T, ...T[]]): T {
  return items[below(random, items.length)] ?? items[0];
}
