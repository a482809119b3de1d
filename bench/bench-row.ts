/** Weir and its peer, set up to be measured in turns. */
export interface Contest {
  /** One measurement of Weir in the row's unit. */
  weir(): Promise<number>;
  /** One measurement of the peer in the same unit; absent where the row has none. */
  readonly peer?: (() => Promise<number>) | undefined;
  close(): Promise<void>;
}

/**
 * What of a round is held against the bars: Weir's measurement divided by its peer's, what it has beyond its peer's, or
 * itself, with the peer's beside it for who reads the table.
 */
export type Judged = "ratio" | "difference" | "value";

/** One row of the table of `npm run bench`. */
export interface BenchRow {
  /** As on the page of goals: `P1`. */
  readonly id: string;
  readonly what: string;
  readonly peer: string;
  readonly unit: string;
  /** `ratio` when absent. */
  readonly judged?: Judged;
  /** Less is better: of a latency. */
  readonly lessIsBetter?: true;
  /** Worst that is let pass of what is judged; beyond it `--check` fails. */
  readonly firstBar: number;
  readonly goal: number;
  /** Opens all that is needed; a `BenchSkipped` says why it cannot. */
  open(): Promise<Contest>;
}

/** Whether what is judged of the row is as good as `bar`. */
export function reaches({ lessIsBetter }: Pick<BenchRow, "lessIsBetter">, judged: number, bar: number): boolean {
  return lessIsBetter === true ? judged <= bar : judged >= bar;
}

/** What is judged of a round; without a peer only a `value` can be. */
export function judge(judged: Judged, weir: number, peer: number | undefined): number {
  if (judged === "value") return weir;
  if (peer === undefined) throw new Error(`Cannot judge the ${judged} of Weir and its peer: the row has no peer`);
  return judged === "ratio" ? weir / peer : weir - peer;
}

/** The row cannot be run here: a tool or a right is missing. */
export class BenchSkipped extends Error {
  override readonly name = "BenchSkipped";
}
