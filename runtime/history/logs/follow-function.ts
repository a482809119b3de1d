import { cutLine } from "../../core/history/logs/cut-line.ts";
import { isCovered, LineNumbers } from "../../core/history/logs/line-numbers.ts";
import type { LineRate } from "../../core/history/logs/line-rate.ts";
import type { FunctionRef } from "../../core/functions/function-ref.ts";
import type { LogPosition } from "../../core/ports/kept-logs.ts";
import type { LogSource } from "../../core/ports/log-source.ts";
import type { LineBuffer } from "./line-buffer.ts";

export interface FollowFunctionParts {
  readonly source: LogSource;
  readonly positions: (ref: FunctionRef) => Promise<ReadonlyMap<string, LogPosition>>;
  readonly rate: LineRate;
  readonly buffer: Pick<LineBuffer, "put">;
}

/** Milliseconds before the last kept line from which a log is read again: replicas come a little out of order. */
const overlap = 60_000;

/**
 * Reads the logs of all replicas of a function from where they were kept up to, until the function is gone or `stop`
 * aborts. Rejects when a log cannot be read.
 */
export async function followFunction(ref: FunctionRef, parts: FollowFunctionParts, stop: AbortSignal): Promise<void> {
  const { source, rate, buffer } = parts;
  const kept = await parts.positions(ref);
  const times = [...kept.values()].map(({ at }) => at);
  const since = times.length === 0 ? undefined : Math.max(...times) - overlap;
  const numbers = new LineNumbers();
  const records = source.read({ ...ref, instance: undefined, tail: undefined, since, follow: true }, stop);
  for await (const record of records) {
    const next = numbers.next(record);
    if (next === undefined || isCovered(next.position, kept.get(record.instance))) continue;
    const line = { ...next.line, text: cutLine(next.line.text) };
    for (const passed of rate.take(line, next.position.at)) await buffer.put(passed, stop);
    if (stop.aborted) return;
  }
}
