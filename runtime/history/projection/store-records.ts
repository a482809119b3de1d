import type { HistoryBatch, StreamPosition } from "../../core/ports/call-history.ts";
import type { RecordBatch, RecordChanges } from "../../core/ports/record-changes.ts";
import type { Log } from "../../process/log.ts";
import { pauseFor } from "../../process/pause-for.ts";
import type { HistoryMetrics } from "../history-metrics.ts";
import type { HistoryWrites } from "../history-writes.ts";
import { GapWatch } from "./gap-watch.ts";
import type { ReadState } from "./read-state.ts";

export interface StoreRecordsParts {
  readonly records: RecordChanges;
  readonly writes: HistoryWrites;
  readonly state: ReadState;
  readonly metrics: HistoryMetrics;
  /** Called when records may have gone unseen: reading began, or after a gap. */
  readonly onMissed: () => void;
  readonly onGap: () => void;
  /** Called with the reason why nothing can be stored, and with undefined when it can again. */
  readonly onTrouble: (reason: Error | undefined) => void;
  readonly log: Log;
}

/** Milliseconds after which a position is stored even if nothing changed: it says until when nothing was missed. */
const idleStorePeriod = 30_000;
const retryPause = { first: 250, longest: 10_000 };

/** Stores the changes of records, one batch after another, until `stop` aborts. Never rejects. */
export async function storeRecords(parts: StoreRecordsParts, stop: AbortSignal): Promise<void> {
  const before = await storedPosition(parts, stop);
  if (stop.aborted) return;
  parts.state.begin(before);
  const gaps = new GapWatch(before);
  let storedAt = Number.NEGATIVE_INFINITY;
  let sequence = before?.sequence;
  for await (const batch of parts.records.follow(before, stop)) {
    const counted = gaps.count;
    const gap = gaps.next(batch);
    const isDue = performance.now() - storedAt > idleStorePeriod;
    if (batch.changes.length > 0 || batch.position.sequence !== sequence || gap !== undefined || isDue) {
      const { changes, position } = batch;
      if (!(await store(parts, { changes, rollups: [], position, ...(gap === undefined ? {} : { gap }) }, stop)))
        return;
      storedAt = performance.now();
      sequence = position.sequence;
    }
    noteStored(parts, batch);
    if (gap !== undefined) parts.onGap();
    if (gaps.count > counted) {
      parts.metrics.gaps.inc();
      parts.log.warn({ from: iso(gap?.from), to: iso(gap?.to) }, "records of calls were missed");
    }
    if (batch.isFirst || gap !== undefined) parts.onMissed();
  }
}

function noteStored({ state, metrics }: StoreRecordsParts, batch: RecordBatch): void {
  state.stored(batch);
  metrics.applied.inc(batch.changes.length);
  if (batch.unreadable > 0) metrics.dropped.inc({ what: "records" }, batch.unreadable);
}

/** Where reading begins; asked until the store replies. */
async function storedPosition(parts: StoreRecordsParts, stop: AbortSignal): Promise<StreamPosition | undefined> {
  return repeated(parts, stop, () => parts.writes.run((writer) => writer.position()));
}

/** Tries until it is stored; false when `stop` aborts before. */
async function store(parts: StoreRecordsParts, batch: HistoryBatch, stop: AbortSignal): Promise<boolean> {
  const done = await repeated(parts, stop, () => parts.writes.run((writer) => writer.apply(batch)).then(() => true));
  return done === true;
}

/** The first result of `act`; undefined when `stop` aborts before. */
async function repeated<T>(
  { onTrouble }: StoreRecordsParts,
  stop: AbortSignal,
  act: () => Promise<T>,
): Promise<T | undefined> {
  for (let wait = retryPause.first; !stop.aborted; wait = Math.min(2 * wait, retryPause.longest)) {
    try {
      const result = await act();
      onTrouble(undefined);
      return result;
    } catch (err) {
      onTrouble(err instanceof Error ? err : new Error("an unknown failure", { cause: err }));
      await pauseFor(wait, stop);
    }
  }
  return undefined;
}

function iso(time: number | undefined): string | undefined {
  return time === undefined ? undefined : new Date(time).toISOString();
}
