import type { BenchRow, Contest } from "../bench-row.ts";

/** A figure of the console that stands alone: less is better, and nothing is compared. */
export interface ConsoleFigure {
  readonly id: string;
  readonly what: string;
  readonly unit: "ms" | "MB" | "kB";
  /** The most that passes. */
  readonly bar: number;
  /** Opens what is measured, each part with its end in `opened`, and returns what measures once. */
  readonly open: (opened: AsyncDisposableStack) => Promise<() => Promise<number>>;
}

export function consoleRow({ id, what, unit, bar, open }: ConsoleFigure): BenchRow {
  return {
    id,
    what,
    peer: "nothing",
    unit,
    judged: "value",
    lessIsBetter: true,
    firstBar: bar,
    goal: bar,
    open: async (): Promise<Contest> => {
      await using opened = new AsyncDisposableStack();
      const weir = await open(opened);
      const kept = opened.move();
      return { weir, close: () => kept.disposeAsync() };
    },
  };
}
