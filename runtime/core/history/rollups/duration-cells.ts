/**
 * The cells in which durations are counted: four up to 1 ms, then four for each doubling up to 2^18 ms. The last one
 * also holds what took longer.
 */
export const durationCellCount = 76;

const perDoubling = 4;

/** The duration that stands for those of a cell, milliseconds: at most 10 % from any of them beyond 1 ms. */
const middles: readonly number[] = Array.from({ length: durationCellCount }, (_, cell) => {
  const place = (cell + 0.5) / perDoubling;
  const middle = cell < perDoubling ? place : 2 ** (place - 1);
  return Math.round(middle * 100) / 100;
});

/**
 * Counts of durations by cell. They are kept as a `RollupPoint` has them, cell, count, cell, count …, by ascending
 * cell: a response is made of tens of thousands of these, most of one point.
 */
export class DurationCells {
  #counts: readonly number[] = [];
  #total = 0;

  get total(): number {
    return this.#total;
  }

  /** Adds counts as a `RollupPoint` has them. */
  add(durations: readonly number[]): void {
    if (durations.length === 0) return;
    this.#counts = this.#total === 0 && isAscending(durations) ? durations : merged(this.#counts, durations);
    this.#total = 0;
    for (let index = 1; index < this.#counts.length; index += 2) this.#total += this.#counts[index] ?? 0;
  }

  /** The counts as a `RollupPoint` has them. */
  sparse(): readonly number[] {
    return this.#counts;
  }

  /** The duration that a share `q` of all did not exceed, milliseconds, within 10 %; null if there are none. */
  quantile(q: number): number | null {
    if (this.#total === 0) return null;
    let left = Math.max(1, Math.ceil(q * this.#total));
    let index = 0;
    for (; index < this.#counts.length - 2; index += 2) {
      left -= this.#counts[index + 1] ?? 0;
      if (left <= 0) break;
    }
    return middles[this.#counts[index] ?? 0] ?? null;
  }
}

/** Whether these are counts of distinct cells in order. */
function isAscending(counts: readonly number[]): boolean {
  let before = -1;
  for (let index = 0; index < counts.length; index += 2) {
    const cell = counts[index] ?? 0;
    if (cell <= before || cell >= durationCellCount) return false;
    before = cell;
  }
  return counts.length % 2 === 0;
}

function merged(one: readonly number[], other: readonly number[]): readonly number[] {
  return isAscending(other) ? mergedInOrder(one, other) : mergedOfAny(one, other);
}

/** Both are in order: thousands of these are added up for one response. */
function mergedInOrder(one: readonly number[], other: readonly number[]): readonly number[] {
  const sums: number[] = [];
  let index = 0;
  let further = 0;
  while (index < one.length || further < other.length) {
    const cell = one[index] ?? durationCellCount;
    const otherCell = other[further] ?? durationCellCount;
    const isFirst = cell <= otherCell;
    const isOther = otherCell <= cell;
    sums.push(
      isFirst ? cell : otherCell,
      (isFirst ? (one[index + 1] ?? 0) : 0) + (isOther ? (other[further + 1] ?? 0) : 0),
    );
    if (isFirst) index += 2;
    if (isOther) further += 2;
  }
  return sums;
}

function mergedOfAny(one: readonly number[], other: readonly number[]): readonly number[] {
  const sums = Array.from({ length: durationCellCount }, () => 0);
  for (const counts of [one, other]) {
    for (let index = 0; index + 1 < counts.length; index += 2) {
      const cell = Math.min(counts[index] ?? 0, durationCellCount - 1);
      sums[cell] = (sums[cell] ?? 0) + (counts[index + 1] ?? 0);
    }
  }
  return sums.flatMap((count, cell) => (count === 0 ? [] : [cell, count]));
}
