/** Weir and its peer, set up to be measured in turns. */
export interface Contest {
  /** One measurement of Weir in the row's unit; more is better. */
  weir(): Promise<number>;
  /** One measurement of the peer in the same unit. */
  peer(): Promise<number>;
  close(): Promise<void>;
}

/** One row of the table of `npm run bench`. */
export interface BenchRow {
  /** As on the page of goals: `P1`. */
  readonly id: string;
  readonly what: string;
  readonly peer: string;
  readonly unit: string;
  /** Least ratio of Weir to its peer; below it `--check` fails. */
  readonly firstBar: number;
  readonly goal: number;
  /** Opens all that is needed; a `BenchSkipped` says why it cannot. */
  open(): Promise<Contest>;
}

/** The row cannot be run here: a tool is missing. */
export class BenchSkipped extends Error {
  override readonly name = "BenchSkipped";
}
