import type { KeptLogBounds, KeptLogsWriter } from "../../core/ports/kept-logs.ts";
import type { Log } from "../../process/log.ts";
import { pauseFor } from "../../process/pause-for.ts";

export interface TrimLogsParts {
  readonly writer: Pick<KeptLogsWriter, "trim" | "size">;
  readonly bounds: KeptLogBounds;
  /** Called with the bytes that are stored. */
  readonly onSize: (bytes: number) => void;
  readonly log: Log;
  /** Unix milliseconds. */
  readonly now: () => number;
  /** Milliseconds between two looks (10 s). */
  readonly period?: number;
}

const usualPeriod = 10_000;
/** Milliseconds between two removals, in which new lines are stored. */
const betweenRemovals = 20;

/** Removes lines beyond the bounds, until `stop` aborts. Never rejects. */
export async function trimLogs(parts: TrimLogsParts, stop: AbortSignal): Promise<void> {
  const { writer, bounds, log, now, period = usualPeriod } = parts;
  while (!stop.aborted) {
    try {
      while (!stop.aborted && (await writer.trim(bounds, now()))) await pauseFor(betweenRemovals, stop);
      parts.onSize((await writer.size()).bytes);
    } catch (err) {
      log.debug({ err }, "cannot trim kept logs");
    }
    await pauseFor(period, stop);
  }
}
