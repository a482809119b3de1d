import type { CallFigures } from "../../core/watch/elsewhere-calls.ts";
import { FunctionRows, type KeyedRow, type RowChanges, type WatchedFunction } from "../../core/watch/function-rows.ts";
import type { WatchClock } from "./watch-clock.ts";
import type { WatchedCalls } from "./watched-calls.ts";

/** Functions and their calls, as streams show them. */
export interface WatchSources {
  functions(): Iterable<WatchedFunction>;
  /** Calls in this process. */
  readonly here: { find(key: string): CallFigures | undefined };
  /** Calls in others; absent: there are none. */
  readonly elsewhere?: WatchedCalls | undefined;
}

/** The rows of functions for all readers together; nothing is computed or kept while nobody reads them. */
export class SharedRows {
  readonly #sources: WatchSources;
  readonly #clock: WatchClock;
  #rows: FunctionRows | undefined;

  constructor(sources: WatchSources, clock: WatchClock) {
    this.#sources = sources;
    this.#clock = clock;
  }

  /** As of the last tick; the first look is one. */
  get rows(): ReadonlyMap<string, KeyedRow> {
    if (this.#rows === undefined) {
      const { here, elsewhere } = this.#sources;
      elsewhere?.open();
      const calls = elsewhere === undefined ? [here] : [here, elsewhere];
      this.#rows = new FunctionRows({ functions: () => this.#sources.functions(), calls });
      this.#rows.tick(this.#clock.now());
    }
    return this.#rows.rows;
  }

  /** What changed since the last tick; undefined while nobody reads them. */
  tick(): RowChanges | undefined {
    const changes = this.#rows?.tick(this.#clock.now());
    if (changes !== undefined) this.#sources.elsewhere?.tidy(changes.removed.map(({ row: [key] }) => key));
    return changes;
  }

  /** Nobody reads them any more. */
  end(): void {
    this.#rows = undefined;
    this.#sources.elsewhere?.close();
  }
}
