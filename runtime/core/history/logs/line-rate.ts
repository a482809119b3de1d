import type { FollowedLine } from "../../ports/kept-logs.ts";

/** Lines of a second that are kept: of a function, and of all functions of a process. */
export const lineRates = { function: 200, process: 2_000 } as const;

/** Seconds whose lines are counted: those of several replicas come a little out of order. */
const countedSeconds = 600;

/** Counts lines by the second in which they were written: a log that is read late is limited as one that is read at once. */
export class LineCounts {
  readonly #limit: number;
  readonly #counts = new Map<number, number>();

  constructor(limit: number) {
    this.#limit = limit;
  }

  hasRoom(second: number): boolean {
    return (this.#counts.get(second) ?? 0) < this.#limit;
  }

  add(second: number): void {
    const count = this.#counts.get(second);
    this.#counts.set(second, (count ?? 0) + 1);
    if (count !== undefined || this.#counts.size <= countedSeconds) return;
    for (const oldest of this.#counts.keys()) {
      this.#counts.delete(oldest);
      break;
    }
  }
}

interface DroppedLines {
  readonly last: FollowedLine;
  readonly count: number;
}

/** Lets the lines of a function pass as far as there is room; one line stands for those that it drops. */
export class LineRate {
  readonly #ofProcess: LineCounts;
  readonly #ofFunction = new LineCounts(lineRates.function);
  readonly #dropped = new Map<string, DroppedLines>();
  readonly #onDrop: () => void;

  /** `ofProcess` counts the lines of all functions; `onDrop` is called for each that is dropped. */
  constructor(ofProcess: LineCounts, onDrop: () => void) {
    this.#ofProcess = ofProcess;
    this.#onDrop = onDrop;
  }

  /** What is to be kept now that a line, written at `at` (Unix milliseconds), was read. */
  take(line: FollowedLine, at: number): readonly FollowedLine[] {
    const second = Math.floor(at / 1_000);
    if (!this.#ofFunction.hasRoom(second) || !this.#ofProcess.hasRoom(second)) {
      this.#dropped.set(line.instance, { last: line, count: (this.#dropped.get(line.instance)?.count ?? 0) + 1 });
      this.#onDrop();
      return [];
    }
    this.#ofFunction.add(second);
    this.#ofProcess.add(second);
    const dropped = this.#dropped.get(line.instance);
    if (dropped === undefined) return [line];
    this.#dropped.delete(line.instance);
    return [standIn(dropped), line];
  }

  /** The lines that stand for those dropped so far; for when no other line comes after them. */
  takeDropped(): readonly FollowedLine[] {
    const lines = [...this.#dropped.values()].map(standIn);
    this.#dropped.clear();
    return lines;
  }
}

function standIn({ last, count }: DroppedLines): FollowedLine {
  const { stream: _, ...place } = last;
  const number = String(count).replaceAll(/\B(?=(?:\d{3})+$)/g, " ");
  return { ...place, text: `… ${number} ${count === 1 ? "line was" : "lines were"} not kept\n` };
}
