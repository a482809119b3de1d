/** Numbers from one, inclusive, to another, exclusive. */
type NumberRange = readonly [from: number, to: number];

/** A row as it was read, by its number. */
interface NumberedRow {
  readonly seq: number;
}

export interface ReadRange<Row> {
  readonly rows: readonly Row[];
  /** False when nothing is left. */
  readonly more: boolean;
}

/**
 * Reads rows in the order of their numbers, some at a time, past what cannot be read: a range that cannot is divided,
 * down to single rows.
 */
export class ReadableRanges<Row extends NumberedRow> {
  readonly #read: (range: NumberRange, limit: number) => readonly Row[];
  readonly #limit: number;
  /** What is left to read; the next one is the last. */
  readonly #left: NumberRange[];
  /** Rows that could not be read, or were not there. */
  skipped = 0;

  /** `read` returns the first rows of a range, at most `limit`, or throws. */
  constructor(range: NumberRange, limit: number, read: (range: NumberRange, limit: number) => readonly Row[]) {
    this.#left = range[0] < range[1] ? [range] : [];
    this.#limit = limit;
    this.#read = read;
  }

  /** The next rows: none, too, where none can be read. Looks at few ranges at a time. */
  next(): ReadRange<Row> {
    const range = this.#left.pop();
    if (range === undefined) return { rows: [], more: false };
    const [from, to] = range;
    let rows: readonly Row[] = [];
    try {
      rows = this.#read(range, this.#limit);
      const last = rows.at(-1);
      if (rows.length === this.#limit && last !== undefined && last.seq + 1 < to) this.#left.push([last.seq + 1, to]);
    } catch {
      this.#divide(from, to);
    }
    return { rows, more: this.#left.length > 0 };
  }

  #divide(from: number, to: number): void {
    if (to - from === 1) {
      this.skipped += 1;
      return;
    }
    const middle = from + Math.floor((to - from) / 2);
    this.#left.push([middle, to], [from, middle]);
  }
}
