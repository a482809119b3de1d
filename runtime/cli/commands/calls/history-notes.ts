import type { HistoryStatus } from "../../../api/schemas/history/call-page.ts";
import { localTime } from "../../output/age-text.ts";

/** What a history that is behind or has gaps keeps from a reply, a sentence each. */
export function historyNotes({ complete, gaps, lagSeconds }: HistoryStatus): readonly string[] {
  const behind = lagSeconds >= 1 ? `it is ${Math.round(lagSeconds)} s behind` : "it is away or only partly read";
  return [
    ...(complete ? [] : [`The history of calls is not up to date: ${behind}`]),
    ...gaps.map(
      ({ from, to }) =>
        `The history has a gap: calls that changed from ${localTime(from)} to ${localTime(to)} may be missing, or shown as they were before`,
    ),
  ];
}
