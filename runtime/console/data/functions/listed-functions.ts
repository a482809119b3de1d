import { batch, signal, type ReadonlySignal, type Signal } from "@preact/signals";

import type { FunctionRow, FunctionState } from "../../../api/schemas/watch/function-row.ts";
import type { FunctionsEvent } from "../../../api/schemas/watch/watch-topics.ts";
import { functionOfKey, type FunctionOfPage } from "./function-of-page.ts";

/** A function in a list. */
export interface ListedFunction extends FunctionOfPage {
  readonly key: string;
  /** Desired replicas. */
  readonly wanted: number;
  readonly ready: number;
  readonly state: FunctionState;
  /** Calls that ended a second; undefined = not known. */
  readonly calls: number | undefined;
  readonly errors: number | undefined;
  readonly inFlight: number | undefined;
  /** When the state last changed, milliseconds since 1970. */
  readonly since: number;
}

/** A cell of a list: it is drawn again when this function changes, and no other. */
export type FunctionCell = Signal<ListedFunction>;

/** All functions that the stream told of. */
export class ListedFunctions {
  readonly #cells = new Map<string, FunctionCell>();
  /** Keys of a new whole while its portions come. */
  #arriving: Set<string> | undefined;
  /** The cells by name; undefined = some came or went since. */
  #byName: readonly FunctionCell[] | undefined;
  readonly #changes = signal(0);
  readonly #isWhole = signal(false);

  /** Grows with each change of any of them: what sorts or counts them reads this. */
  get changes(): ReadonlySignal<number> {
    return this.#changes;
  }

  /** Whether all of them are here. */
  get isWhole(): ReadonlySignal<boolean> {
    return this.#isWhole;
  }

  get cells(): ReadonlyMap<string, FunctionCell> {
    return this.#cells;
  }

  /** All of them by name. It is another list when some came or went, and the same while only their figures change. */
  get byName(): readonly FunctionCell[] {
    this.#byName ??= [...this.#cells].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, cell]) => cell);
    return this.#byName;
  }

  take({ begin, more, rows, removed }: FunctionsEvent): void {
    batch(() => {
      if (begin) this.#arriving = new Set();
      for (const row of rows) this.#put(listedOf(row));
      for (const key of removed) this.#remove(key);
      if (!more && this.#arriving !== undefined) {
        // The rows of before stayed until now, so that a new stream does not empty the page.
        for (const key of this.#cells.keys()) if (!this.#arriving.has(key)) this.#remove(key);
        this.#arriving = undefined;
        this.#isWhole.value = true;
      }
      this.#changes.value++;
    });
  }

  /** Takes the whole at once. */
  replace(functions: readonly ListedFunction[]): void {
    batch(() => {
      const keys = new Set(functions.map(({ key }) => key));
      for (const key of this.#cells.keys()) if (!keys.has(key)) this.#remove(key);
      for (const each of functions) this.#put(each);
      this.#isWhole.value = true;
      this.#changes.value++;
    });
  }

  #put(listed: ListedFunction): void {
    const { key } = listed;
    this.#arriving?.add(key);
    const cell = this.#cells.get(key);
    if (cell !== undefined) {
      cell.value = listed;
      return;
    }
    this.#cells.set(key, signal(listed));
    this.#byName = undefined;
  }

  #remove(key: string): void {
    if (this.#cells.delete(key)) this.#byName = undefined;
  }
}

/** A row of the stream with names. */
function listedOf([key, wanted, ready, state, calls, errors, inFlight, since]: FunctionRow): ListedFunction {
  return { key, ...functionOfKey(key), wanted, ready, state, calls, errors, inFlight, since: since * 1_000 };
}
