/** Weir and its peer, ready to be measured in turns. */
export interface Contest {
  /** One measurement of Weir in the row's unit. */
  weir(): Promise<number>;
  /** One measurement of the peer in the same unit; absent where the row has none. */
  readonly peer?: (() => Promise<number>) | undefined;
  close(): Promise<void>;
}

/**
 * What is compared with the bars: Weir's measurement divided by its peer's, the difference of the two, or Weir's alone,
 * with the peer's only shown in the table.
 */
export type Judged = "ratio" | "difference" | "value";

/** One row of the table of `npm run bench`. */
export interface BenchRow {
  /** As on the goals page: `P1`. */
  readonly id: string;
  readonly what: string;
  readonly peer: string;
  readonly unit: string;
  /** `ratio` when absent. */
  readonly judged?: Judged;
  readonly lessIsBetter?: true;
  /** Worst judged value that passes; `--check` fails beyond it. */
  readonly firstBar: number;
  readonly goal: number;
  /**
   * Starts everything that the row needs.
   * @throws BenchSkipped with the reason when the row cannot run here
   */
  open(): Promise<Contest>;
}

/** Whether the judged value of the row is at least as good as `bar`. */
export function reaches({ lessIsBetter }: Pick<BenchRow, "lessIsBetter">, judged: number, bar: number): boolean {
  return lessIsBetter === true ? judged <= bar : judged >= bar;
}

/** The judged value of a round; without a peer only `value` is possible. */
export function judge(judged: Judged, weir: number, peer: number | undefined): number {
  if (judged === "value") return weir;
  if (peer === undefined) throw new Error(`Cannot judge the ${judged} of Weir and its peer: the row has no peer`);
  return judged === "ratio" ? weir / peer : weir - peer;
}

/** The row cannot run here: a tool or a permission is missing. */
export class BenchSkipped extends Error {
  override readonly name = "BenchSkipped";
}
