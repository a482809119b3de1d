import type { HistoryCall } from "../../../core/history/history-row.ts";
import type { SqlValue } from "../sql-text.ts";
import { kindCodes, sourceCodes, stateCodes } from "./call-codes.ts";
import { callIdBytes } from "./call-id-bytes.ts";
import { compactDetails } from "./compact-details.ts";

/** Columns of table `call` that a call gives values for, `id` first. */
export const storedColumns = [
  "id",
  "revision",
  "accepted",
  "fn",
  "queue",
  "kind",
  "state",
  "status",
  "reason",
  "source",
  "ended",
  "wait",
  "duration",
  "cold_start",
  "retries",
  "replay_of",
  "details",
] as const;

/** The values of these columns; `fn` and `queue` are the ids of the names. */
export function storedValues(call: HistoryCall, names: { readonly fn: number; readonly queue: number }): SqlValue[] {
  const { row, details } = wholeTimes(call);
  const replayOf = details.entry?.replayOf;
  return [
    callIdBytes(row.id),
    row.revision,
    row.accepted,
    names.fn,
    names.queue,
    kindCodes.code(row.kind),
    stateCodes.code(row.state),
    row.status,
    row.reason,
    sourceCodes.code(row.source),
    row.ended,
    row.wait,
    row.duration,
    row.coldStart,
    row.retries,
    replayOf === undefined ? null : callIdBytes(replayOf),
    compactDetails({ row, details }),
  ];
}

/** Indexes and counts are by whole milliseconds. */
function wholeTimes({ row, details }: HistoryCall): HistoryCall {
  const ended = row.ended === null ? null : Math.floor(row.ended);
  return { row: { ...row, accepted: Math.floor(row.accepted), ended }, details };
}
