import type { HistoryProgress } from "../ports/call-history.ts";

/**
 * How far the history is, with only those gaps that calls accepted from `from` to `to` may have been changed in; both
 * Unix milliseconds. A call may change long after it was accepted: without `to`, at any time since.
 */
export function gapsTouching(progress: HistoryProgress, from = 0, to = Number.POSITIVE_INFINITY): HistoryProgress {
  return { ...progress, gaps: progress.gaps.filter((gap) => gap.to >= from && gap.from <= to) };
}
