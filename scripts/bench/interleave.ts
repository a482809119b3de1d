import type { Contest } from "./bench-row.ts";

/** Middle, least and most of a list of measurements. */
export interface Spread {
  readonly median: number;
  readonly min: number;
  readonly max: number;
}

/** What the rounds of one contest gave. */
export interface ContestOutcome {
  readonly rounds: number;
  readonly weir: Spread;
  readonly peer: Spread;
  /** Weir's measurement divided by its peer's, round by round. */
  readonly ratio: Spread;
  /** The peer varied by more than 25 %: the machine was busy with something else. */
  readonly noisy: boolean;
}

const tolerableVariation = 0.25;

/**
 * Measures both sides in turns, A B B A …, so that what changes on the machine meanwhile meets both. One measurement
 * of each goes before and does not count.
 */
export async function interleave(contest: Contest, rounds: number): Promise<ContestOutcome> {
  await contest.peer();
  await contest.weir();
  const weir: number[] = [];
  const peer: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    if (round % 2 === 0) {
      weir.push(await contest.weir());
      peer.push(await contest.peer());
    } else {
      peer.push(await contest.peer());
      weir.push(await contest.weir());
    }
  }
  const peerSpread = spreadOf(peer);
  return {
    rounds,
    weir: spreadOf(weir),
    peer: peerSpread,
    ratio: spreadOf(weir.map((value, round) => value / (peer[round] ?? Number.NaN))),
    noisy: (peerSpread.max - peerSpread.min) / peerSpread.median > tolerableVariation,
  };
}

/** The spread of at least one value. */
export function spreadOf(values: readonly number[]): Spread {
  const sorted = values.toSorted((a, b) => a - b);
  const upper = sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
  const lower = sorted[Math.floor((sorted.length - 1) / 2)] ?? Number.NaN;
  return { median: (upper + lower) / 2, min: sorted[0] ?? Number.NaN, max: sorted.at(-1) ?? Number.NaN };
}
