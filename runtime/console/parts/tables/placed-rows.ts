/** A row of a long list, and where it stands. */
export interface PlacedRow<Row> {
  readonly key: string;
  readonly index: number;
  /** From the begin of the list, pixels. */
  readonly start: number;
  readonly row: Row;
}

export interface RowsToPlace<Row> {
  /** The rows that belong to the window, in their order. */
  readonly wanted: readonly PlacedRow<Row>[];
  /** Those of them that can be seen are made first. */
  readonly isInSight: (index: number) => boolean;
  /** How many rows may be made now. */
  readonly most: number;
  /** How many rows the list has. */
  readonly count: number;
}

/** The rows of a long list that are rendered: a frame makes some of them, as long as others wait. */
export class PlacedRows<Row> {
  #rows: readonly PlacedRow<Row>[] = [];
  #made = 0;
  #waiting = 0;

  /** Those that are rendered, in their order. */
  get rows(): readonly PlacedRow<Row>[] {
    return this.#rows;
  }

  /** How many rows were made at last. */
  get made(): number {
    return this.#made;
  }

  /** How many rows are still to be made. */
  get waiting(): number {
    return this.#waiting;
  }

  /** Rows that are there already move at once. What stood elsewhere stays until another row takes its place. */
  place({ wanted, isInSight, most, count }: RowsToPlace<Row>): void {
    const before = new Set(this.#rows.map(({ key }) => key));
    const fresh = wanted.filter(({ key }) => !before.has(key));
    const first = fresh.filter(({ index }) => isInSight(index));
    const made = new Set([...first, ...fresh.filter(({ index }) => !isInSight(index))].slice(0, most));
    const placed = wanted.filter((each) => before.has(each.key) || made.has(each));
    this.#made = made.size;
    this.#waiting = fresh.length - made.size;
    this.#rows = this.#waiting === 0 ? placed : this.#withFormer(placed, wanted, count);
  }

  #withFormer(placed: readonly PlacedRow<Row>[], wanted: readonly PlacedRow<Row>[], count: number) {
    const [keys, taken] = [new Set(wanted.map(({ key }) => key)), new Set(placed.map(({ index }) => index))];
    const former = this.#rows.filter(({ key, index }) => !keys.has(key) && !taken.has(index) && index < count);
    return [...placed, ...former].sort((one, other) => one.index - other.index);
  }
}
