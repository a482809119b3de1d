import type { CallSummary } from "../../api/schemas/history/call-summary.ts";
import type { CallRow } from "./history-row.ts";

/** A call as lists show it. */
export function callSummary(row: CallRow): CallSummary {
  const { status, wait, duration, coldStart } = row;
  return {
    ...summaryOf(row),
    ...(status === null ? {} : { status }),
    ...(wait === null ? {} : { waitSeconds: inSeconds(wait) }),
    ...(duration === null ? {} : { durationSeconds: inSeconds(duration) }),
    ...(coldStart === null ? {} : { coldStartSeconds: inSeconds(coldStart) }),
  };
}

/** The fields that a call has in lists and alone. */
export function summaryOf({
  id,
  kind,
  name,
  namespace,
  queue,
  state,
  reason,
  source,
  accepted,
  ended,
  retries,
}: CallRow) {
  return {
    callId: id,
    kind,
    functionName: name,
    namespace,
    ...(queue === "" ? {} : { queue }),
    state,
    ...(reason === null ? {} : { reason }),
    source,
    acceptedAt: new Date(accepted).toISOString(),
    ...(ended === null ? {} : { endedAt: new Date(ended).toISOString() }),
    retries,
  };
}

/** Milliseconds in seconds, to the microsecond. */
export function inSeconds(milliseconds: number): number {
  return Math.round(milliseconds * 1_000) / 1_000_000;
}
