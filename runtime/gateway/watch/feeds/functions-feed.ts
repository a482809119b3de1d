import type { FunctionRef } from "../../../core/functions/function-ref.ts";
import { eventText } from "../../../core/watch/event-text.ts";
import type { FunctionRows, RowChanges } from "../../../core/watch/function-rows.ts";
import { PendingRows, wholeRows } from "../../../core/watch/pending-rows.ts";
import type { WatchReader } from "../watch-reader.ts";
import type { WatchFeed } from "./watch-feed.ts";

/** Topic `functions[:<namespace>]`. The rows themselves are computed once for all feeds. */
export class FunctionsFeed implements WatchFeed {
  readonly #on: string;
  readonly #rows: Pick<FunctionRows, "rows">;
  readonly #pending: PendingRows;
  readonly #readers = new Set<WatchReader>();

  /** Of the functions that `wants` is true for. */
  constructor(on: string, rows: Pick<FunctionRows, "rows">, wants: (ref: FunctionRef) => boolean) {
    this.#on = on;
    this.#rows = rows;
    this.#pending = new PendingRows(wants);
  }

  get isIdle(): boolean {
    return this.#readers.size === 0;
  }

  join(reader: WatchReader): void {
    this.#readers.add(reader);
    reader.sendWhole(this.#whole());
  }

  leave(reader: WatchReader): void {
    this.#readers.delete(reader);
  }

  /** Changes come once a second, by `take`. */
  tick(): void {}

  /** Tells what changed in the last second, as far as it fits one event. */
  take(changes: RowChanges): void {
    this.#pending.add(changes);
    const portion = this.#pending.take();
    if (portion === undefined) return;
    const text = eventText("functions", {
      on: this.#on,
      begin: false,
      more: false,
      rows: [...portion.rows],
      removed: [...portion.removed],
    });
    for (const reader of this.#readers) reader.send(text);
  }

  *#whole(): Generator<string> {
    let begin = true;
    for (const { rows, more } of wholeRows(this.#rows.rows, (ref) => this.#pending.wants(ref))) {
      yield eventText("functions", { on: this.#on, begin, more, rows: [...rows], removed: [] });
      begin = false;
    }
  }
}
