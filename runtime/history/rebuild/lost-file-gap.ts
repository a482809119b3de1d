import type { HistoryGap } from "../../core/ports/call-history.ts";
import { shortestRecordLife } from "../projection/decide-gap.ts";

/**
 * The gap that a file leaves which cannot be read as a whole: what only it knew, back to the age of the oldest calls.
 * The records that still exist are read again.
 */
export function lostFileGap(age: number, now: number): HistoryGap {
  return { from: now - age, to: now - shortestRecordLife };
}
