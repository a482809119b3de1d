import type { FunctionRow } from "../../api/schemas/watch/function-row.ts";
import type { FunctionRef } from "../functions/function-ref.ts";
import type { KeyedRow, RowChanges } from "./function-rows.ts";

/** Most rows of one event. */
export const maxRows = 500;

/** What a reader is told at once. */
export interface RowPortion {
  readonly rows: readonly FunctionRow[];
  readonly removed: readonly string[];
}

/** Rows that changed and were not told yet, the longest waiting first: each is told as it is then. */
export class PendingRows {
  readonly #wants: (ref: FunctionRef) => boolean;
  readonly #changed = new Map<string, KeyedRow>();
  readonly #removed = new Set<string>();

  /** Of the functions that `wants` is true for. */
  constructor(wants: (ref: FunctionRef) => boolean) {
    this.#wants = wants;
  }

  wants(ref: FunctionRef): boolean {
    return this.#wants(ref);
  }

  add({ changed, removed }: RowChanges): void {
    for (const known of removed) {
      if (!this.#wants(known.ref)) continue;
      const [key] = known.row;
      this.#changed.delete(key);
      this.#removed.add(key);
    }
    for (const known of changed) {
      if (!this.#wants(known.ref)) continue;
      const [key] = known.row;
      this.#removed.delete(key);
      this.#changed.set(key, known);
    }
  }

  /** The next portion; undefined when there is nothing to tell. */
  take(): RowPortion | undefined {
    if (this.#changed.size === 0 && this.#removed.size === 0) return undefined;
    const rows: FunctionRow[] = [];
    for (const [key, { row }] of this.#changed) {
      if (rows.length === maxRows) break;
      this.#changed.delete(key);
      rows.push(row);
    }
    const removed = [...this.#removed];
    this.#removed.clear();
    return { rows, removed };
  }
}

/**
 * The whole in portions, each as it is when it is asked for: rows may come and go meanwhile. The last one says so; an
 * empty list is one empty portion.
 */
export function* wholeRows(
  rows: ReadonlyMap<string, KeyedRow>,
  wants: (ref: FunctionRef) => boolean,
): Generator<{ readonly rows: readonly FunctionRow[]; readonly more: boolean }, void> {
  // Read when they are told: meanwhile one may have changed, or be gone.
  const told = (known: readonly KeyedRow[]): readonly FunctionRow[] =>
    known.flatMap((each) => (rows.get(each.row[0]) === each ? [each.row] : []));
  let portion: KeyedRow[] = [];
  for (const known of rows.values()) {
    if (!wants(known.ref)) continue;
    if (portion.length === maxRows) {
      yield { rows: told(portion), more: true };
      portion = [];
    }
    portion.push(known);
  }
  yield { rows: told(portion), more: false };
}
