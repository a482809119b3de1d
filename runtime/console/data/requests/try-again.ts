/** Longest wait between two tries, milliseconds. */
const longest = 30_000;

/**
 * How long to wait before try number `tries` (counted from 1), milliseconds: 1, 2, 4, 8, 16, 30, 30, … seconds, each up
 * to a quarter less, so that pages that lost one gateway do not come back together.
 */
export function tryAgainDelay(tries: number, chance: () => number = Math.random): number {
  const delay = Math.min(1_000 * 2 ** (tries - 1), longest);
  return Math.round(delay * (1 - chance() / 4));
}
