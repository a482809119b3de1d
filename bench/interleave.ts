import { judge, type Contest, type Judged } from "./bench-row.ts";

export interface Spread {
  readonly median: number;
  readonly min: number;
  readonly max: number;
}

export interface ContestOutcome {
  readonly rounds: number;
  readonly weir: Spread;
  readonly peer: Spread | undefined;
  /** The spread of the judged values of all rounds; see {@link Judged}. */
  readonly judged: Spread;
  /** The peer varied by more than 25 %: the machine was busy with something else. */
  readonly noisy: boolean;
}

const tolerableVariation = 0.25;

/**
 * Measures both sides in turns, A B B A …, so changes on the machine affect both alike. One measurement of each goes
 * before as a warm-up.
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

/** NaN in all fields without values. */
export function spreadOf(values: readonly number[]): Spread {
  const sorted = values.toSorted((a, b) => a - b);
  const upper = sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
  const lower = sorted[Math.floor((sorted.length - 1) / 2)] ?? Number.NaN;
  return { median: (upper + lower) / 2, min: sorted[0] ?? Number.NaN, max: sorted.at(-1) ?? Number.NaN };
}
