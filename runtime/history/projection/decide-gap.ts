import { floorTtl } from "../../core/calls/call-ttl.ts";
import type { HistoryGap, StreamPosition } from "../../core/ports/call-history.ts";
import type { RecordBatch } from "../../core/ports/record-changes.ts";

/** Shortest time for which the record of an ended call is kept, whatever its queue's `ack_wait`, milliseconds. */
export const shortestRecordLife = floorTtl({ callMaxAge: 0, callRecordTtl: 0, ackWait: 0 });

/**
 * The time of which records may have been missed between the position `before` and the batch after it: those of calls
 * that changed in it may have expired before they were read. Undefined if none can be missing.
 */
export function decideGap(
  before: StreamPosition,
  { position, readAt, removed, quietUntil }: RecordBatch,
): HistoryGap | undefined {
  const recreatedAt = position.created === before.created ? undefined : Date.parse(position.created);
  // What was in a removed stream and had not been read is lost, however short the time.
  if (recreatedAt !== undefined && recreatedAt > before.at) return { from: before.at, to: recreatedAt };
  if (removed === 0) return undefined;
  const from = Math.max(before.at, quietUntil ?? before.at);
  const to = readAt - shortestRecordLife;
  return to > from ? { from, to } : undefined;
}
