import type { HistoryGap, StreamPosition } from "../../core/ports/call-history.ts";
import type { RecordBatch } from "../../core/ports/record-changes.ts";
import { decideGap } from "./decide-gap.ts";

/** Milliseconds by which a gap is stored longer than it is so far: far behind, it would grow with each batch. */
const stride = 10_000;

/** Notices gaps in what is read, batch after batch. */
export class GapWatch {
  #before: StreamPosition | undefined;
  /** Where the time begins that this history is about: what came before it was turned on is not missing. */
  #since: number | undefined;
  /** The gap that is growing, as it was stored. */
  #open: HistoryGap | undefined;
  /** Gaps so far, each counted once. */
  count = 0;

  /** `before`: where reading begins; undefined: there was none. */
  constructor(before: StreamPosition | undefined) {
    this.#before = before;
  }

  /** The gap to be stored with a batch; one that grows is given again, with the same begin. */
  next(batch: RecordBatch): HistoryGap | undefined {
    const before = this.#before;
    this.#before = batch.position;
    if (before === undefined) {
      this.#since = batch.readAt;
      return undefined;
    }
    const found = decideGap({ ...before, at: Math.max(before.at, this.#since ?? before.at) }, batch);
    if (found === undefined) {
      if (batch.isLevel) this.#open = undefined;
      return undefined;
    }
    const grows = this.#open !== undefined && found.from <= this.#open.to;
    if (grows && this.#open !== undefined && found.to <= this.#open.to) return undefined;
    if (!grows) this.count += 1;
    const from = grows && this.#open !== undefined ? this.#open.from : found.from;
    this.#open = { from, to: found.to + (batch.isLevel ? 0 : stride) };
    return this.#open;
  }
}
