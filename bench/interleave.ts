import { judge, type Contest, type Judged } from "./bench-row.ts";

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
  readonly peer: Spread | undefined;
  /** What the row is judged by, round by round: a ratio, a difference or Weir's measurement itself. */
  readonly judged: Spread;
  /** The peer varied by more than 25 %: the machine was busy with something else. */
  readonly noisy: boolean;
}

const tolerableVariation = 0.25;

/**
 * Measures both sides in turns, A B B A …, so that what changes on the machine meanwhile meets both. One measurement
 * of each goes before and does not count.
 */
export async function interleave(contest: Contest, rounds: number, judged: Judged): Promise<ContestOutcome> {
  await contest.peer?.();
  await contest.weir();
  const weir: number[] = [];
  const peer: number[] = [];
  const measurePeer = async (): Promise<void> => {
    if (contest.peer !== undefined) peer.push(await contest.peer());
  };
  for (let round = 0; round < rounds; round += 1) {
    if (round % 2 === 0) {
      weir.push(await contest.weir());
      await measurePeer();
    } else {
      await measurePeer();
      weir.push(await contest.weir());
    }
  }
  const peerSpread = peer.length === 0 ? undefined : spreadOf(peer);
  return {
    rounds,
    weir: spreadOf(weir),
    peer: peerSpread,
    judged: spreadOf(weir.map((value, round) => judge(judged, value, peer[round]))),
    noisy: variationOf(peerSpread) > tolerableVariation,
  };
}

function variationOf(spread: Spread | undefined): number {
  return spread === undefined ? 0 : (spread.max - spread.min) / spread.median;
}

/** The spread of at least one value. */
export function spreadOf(values: readonly number[]): Spread {
  const sorted = values.toSorted((a, b) => a - b);
  const upper = sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
  const lower = sorted[Math.floor((sorted.length - 1) / 2)] ?? Number.NaN;
  return { median: (upper + lower) / 2, min: sorted[0] ?? Number.NaN, max: sorted.at(-1) ?? Number.NaN };
}
