import type { HistoryBounds } from "../core/ports/call-history.ts";
import type { Log } from "../process/log.ts";
import { pauseFor } from "../process/pause-for.ts";
import type { HistoryMetrics } from "./history-metrics.ts";
import type { HistoryWrites } from "./history-writes.ts";

export interface TrimHistoryParts {
  readonly writes: HistoryWrites;
  readonly bounds: HistoryBounds;
  readonly metrics: HistoryMetrics;
  readonly log: Log;
  /** Unix milliseconds. */
  readonly now: () => number;
  /** Milliseconds between two looks at what has become too old, and at whether there is too much. */
  readonly periods?: { readonly age: number; readonly size: number };
}

const defaultPeriods = { age: 10_000, size: 1_000 };
/** Milliseconds between two removals, in which new calls are stored. */
const breath = 20;

/** Removes what is beyond the bounds, until `stop` aborts. Never rejects. */
export async function trimHistory(parts: TrimHistoryParts, stop: AbortSignal): Promise<void> {
  const { writes, bounds, metrics, log, now, periods = defaultPeriods } = parts;
  let trimmedAt = Number.NEGATIVE_INFINITY;
  while (!stop.aborted) {
    try {
      let { calls, bytes } = await writes.run((writer) => writer.size());
      // A trim is a write: at rest there is none each second.
      if (calls > bounds.calls || bytes > bounds.bytes || performance.now() - trimmedAt >= periods.age) {
        trimmedAt = performance.now();
        while (!stop.aborted && (await writes.run((writer) => writer.trim(bounds, now()))))
          await pauseFor(breath, stop);
        ({ calls, bytes } = await writes.run((writer) => writer.size()));
      }
      metrics.rows.set(calls);
      metrics.bytes.set({ store: "calls" }, bytes);
    } catch (err) {
      log.debug({ err }, "cannot trim the history");
    }
    await pauseFor(periods.size, stop);
  }
}
