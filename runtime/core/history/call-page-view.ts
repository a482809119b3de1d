import type { CallPageView } from "../../api/schemas/history/call-page.ts";
import type { CallPage, HistoryProgress } from "../ports/call-history.ts";
import { historyStatus } from "./call-detail.ts";
import { listCursor, type CallListParameters } from "./list-cursor.ts";
import { callSummary } from "./call-summary.ts";

/** A page of calls as clients see it; `parameters` are those of the request. */
export function callPageView(
  { rows, next, total }: CallPage,
  parameters: CallListParameters,
  progress: HistoryProgress,
): CallPageView {
  return {
    items: rows.map(callSummary),
    ...(next === undefined ? {} : { next: listCursor(parameters, next) }),
    total,
    history: historyStatus(progress),
  };
}
