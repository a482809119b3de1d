import type { StderrTail } from "../../api/schemas/history/call-attempt-detail.ts";
import type { CallDetail, KeptLines, KeptRequest } from "../../api/schemas/history/call-detail.ts";
import type { HistoryStatus } from "../../api/schemas/history/call-page.ts";
import { callView } from "../calls/call-view.ts";
import type { HistoryProgress } from "../ports/call-history.ts";
import { callActions } from "./call-actions.ts";
import { callTimeline } from "./call-timeline.ts";
import { inSeconds, summaryOf } from "./call-summary.ts";
import type { HistoryCall, AnsweredCall } from "./history-row.ts";

/** What is known of a call from elsewhere. */
export interface DetailFacts {
  /** Unix milliseconds. */
  readonly now: number;
  readonly queuePosition?: number | undefined;
  /** Ids of the calls that replay it, oldest first. */
  readonly replays: readonly string[];
  /** Undefined: it is not known. */
  readonly request: KeptRequest | undefined;
  readonly logs: KeptLines;
  /** What its function wrote to standard error during attempts, by their numbers, as far as it may be shown. */
  readonly tails: ReadonlyMap<number, StderrTail>;
  readonly history: HistoryProgress;
}

/** Everything that is known of a call, as clients see it. */
export function callDetail(call: HistoryCall, facts: DetailFacts): CallDetail {
  const { row, details } = call;
  const { now, replays, request, logs, history } = facts;
  return {
    ...(details.sync === undefined ? recordFields(call, facts) : syncFields(details.sync)),
    ...summaryOf(row),
    replays: [...replays],
    redrives: details.entry?.redrives ?? 0,
    timeline: [...callTimeline(call, now)],
    actions: callActions(call, { now, requestKept: request?.kept }),
    request: request ?? { kept: false },
    logs,
    history: historyStatus(history),
  };
}

/** How current and complete the history is, as clients see it. */
export function historyStatus({ lagSeconds, complete, gaps }: HistoryProgress): HistoryStatus {
  const text = (at: number): string => new Date(at).toISOString();
  return { lagSeconds, complete, gaps: gaps.map(({ from, to }) => ({ from: text(from), to: text(to) })) };
}

function recordFields({ row, details: { entry } }: HistoryCall, { now, queuePosition, tails }: DetailFacts) {
  if (entry === undefined) throw new TypeError(`call "${row.id}" has neither a record nor a request`);
  // A call whose record is gone is due no more.
  const seen = row.state === "unknown" ? { ...entry, next: null } : entry;
  const { state: _, attempts, ...fields } = callView(row.id, seen, now, queuePosition);
  return {
    ...fields,
    attempts: attempts.map((attempt) => {
      const stderrTail = tails.get(attempt.number);
      return { ...attempt, ...(stderrTail === undefined ? {} : { stderrTail }) };
    }),
  };
}

function syncFields({ startedAt, duration, status, replica, coldStart }: AnsweredCall) {
  return {
    startTime: (BigInt(Math.round(startedAt)) * 1_000_000n).toString(),
    maxRetries: 0,
    attempts: [
      {
        number: 1,
        startedAt: new Date(startedAt).toISOString(),
        endedAt: new Date(startedAt + duration).toISOString(),
        status,
        durationSeconds: inSeconds(duration),
        ...(replica === undefined ? {} : { replica }),
        ...(coldStart === undefined ? {} : { coldStartSeconds: inSeconds(coldStart) }),
      },
    ],
  };
}
