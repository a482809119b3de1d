import { setTimeout as pause } from "node:timers/promises";

import Type from "typebox";

import { PlatformError } from "../../../../api/platform-error.ts";
import type { StderrTail } from "../../../../api/schemas/history/call-attempt-detail.ts";
import type { KeptLines } from "../../../../api/schemas/history/call-detail.ts";
import { CallLogLine } from "../../../../api/schemas/history/call-log-line.ts";
import { callId } from "../../../../api/schemas/name-schemas.ts";
import type { HistoryCall } from "../../../../core/history/history-row.ts";
import { findAttemptTails } from "../../../../core/history/logs/attempt-tails.ts";
import { findCallLines, type CallLine } from "../../../../core/history/logs/call-lines.ts";
import { matchRuns } from "../../../../core/history/logs/lone-windows.ts";
import type { HistoryParts, KeptLogParts } from "../../app-parts.ts";
import { route } from "../../route.ts";
import { readPermittedCall } from "./permitted-call.ts";
import { requiredHistory } from "./required-history.ts";
import { sendRecords } from "../send-records.ts";

/** The action of reading what a function logged. */
export const logsAction = "Function:Logs";
/** Most lines of one call. */
const mostLines = 10_000;
/** Most lines that are counted where only their number is shown. */
const mostCounted = 1_000;
/** Milliseconds for counting them: what reads them may have to start first. */
const countTimeout = 300;
/** Milliseconds for reading what failed runs wrote. */
const tailTimeout = 1_000;

/** The log of one call. */
export const callLogRoute = route(
  {
    id: "readCallLogs",
    group: "call history",
    method: "GET",
    path: "/system/calls/:callId/logs",
    needs: logsAction,
    filters: true,
    about: "Reads what a function logged during a call, one JSON object per line.",
    details: `Shows lines in which the id of the call stands, and those that its replica wrote while it ran, if the history knows of no other call that the replica had then; at most ${mostLines}. A line is there about two seconds after it was written. A call whose function the sender may not see is 404.`,
    params: Type.Object({ callId: callId("Id of the call") }),
    responses: [{ status: 200, about: "The lines", schema: CallLogLine, type: "application/x-ndjson" }],
    errors: ["call_not_found", "too_many_streams", "history_off", "history_unavailable"],
    trial: {
      commands: "curl -i -u admin:$P $G/system/calls/$ID/logs",
      shows: "HTTP/1.1 200 OK\n…",
    },
  },
  (parts) =>
    async ({ params, principal, request, reply }) => {
      const { history, logStreams, errors, queueParts } = parts;
      const id = params.callId.toLowerCase();
      const act = `read the logs of call "${id}"`;
      using stream = logStreams.begin();
      const { access } = request;
      const { call } = await readPermittedCall(parts, { id, act, action: logsAction, principal, access });
      const lines = await linesOfCall(requiredHistory(history, act), act, call, queueParts.ledger.now());
      await sendRecords(stream, { request, reply, principal, errors }, () => recordsOf(lines));
    },
);

/**
 * The kept lines of a call in the order of their times; `act` completes the sentence `Cannot <act>`.
 * @throws PlatformError `history_off`, `history_unavailable`
 */
export async function linesOfCall(
  history: HistoryParts,
  act: string,
  call: HistoryCall,
  now: number,
): Promise<readonly CallLine[]> {
  const { reads: kept } = requiredLogs(history, act);
  return await findCallLines(kept, call, await matchRuns(history.reads, call, now), mostLines);
}

/**
 * The kept logs; `act` completes the sentence `Cannot <act>`.
 * @throws PlatformError `history_off`
 */
export function requiredLogs({ logs }: HistoryParts, act: string): KeptLogParts {
  if (logs !== undefined) return logs;
  throw new PlatformError("history_off", `Cannot ${act}: no lines are kept; the setting kept_logs turns that on`);
}

/** What is kept of the log of a call. */
export interface KeptCallLog {
  /** Without their number while that is not known. */
  readonly lines: KeptLines;
  /** By the numbers of attempts. */
  readonly tails: ReadonlyMap<number, StderrTail>;
}

/** What is said of the log of a call where nothing of it is read. */
export function unreadLogOf({ logs }: HistoryParts): KeptCallLog {
  return { lines: { kept: logs !== undefined }, tails: new Map() };
}

/** What is kept of the log of a call, as far as it is known soon; the tails of failed runs only if they may be shown. */
export async function keptLogOf(
  history: HistoryParts,
  call: HistoryCall,
  now: number,
  mayShowLines: boolean,
): Promise<KeptCallLog> {
  const { logs, reads } = history;
  const unread = unreadLogOf(history);
  if (logs === undefined) return unread;
  const runs = await soon(matchRuns(reads, call, now), tailTimeout);
  if (runs === undefined) return unread;
  const [lines, tails] = await Promise.all([
    soon(findCallLines(logs.reads, call, runs, mostCounted), countTimeout),
    mayShowLines ? soon(findAttemptTails(logs.reads, call, runs), tailTimeout) : undefined,
  ]);
  return {
    lines: lines === undefined ? unread.lines : { kept: true, lines: lines.length },
    tails: tails ?? unread.tails,
  };
}

/** The outcome of a read; undefined when it takes longer, or the history is away. */
async function soon<T>(reading: Promise<T>, timeout: number): Promise<T | undefined> {
  try {
    return await Promise.race([reading, pause(timeout, undefined, { ref: false })]);
  } catch (err) {
    if (err instanceof PlatformError) return undefined;
    throw err;
  }
}

async function* recordsOf(lines: readonly CallLine[]): AsyncGenerator<CallLogLine> {
  for (const { line, match } of lines) {
    const { place: _, ...record } = line;
    yield { ...record, match };
  }
}
