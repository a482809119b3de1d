import { setTimeout as pause } from "node:timers/promises";

import Type from "typebox";

import { PlatformError } from "../../../../api/platform-error.ts";
import type { KeptLines } from "../../../../api/schemas/history/call-detail.ts";
import { CallLogLine } from "../../../../api/schemas/history/call-log-line.ts";
import { callId } from "../../../../api/schemas/name-schemas.ts";
import type { HistoryCall } from "../../../../core/history/history-row.ts";
import { findCallLines, type CallLine } from "../../../../core/history/logs/call-lines.ts";
import type { HistoryParts, KeptLogParts } from "../../app-parts.ts";
import { route } from "../../route.ts";
import { readPermittedCall } from "./permitted-call.ts";
import { requiredHistory } from "./required-history.ts";
import { sendRecords } from "../send-records.ts";

const logsAction = "Function:Logs";
/** Most lines of one call. */
const mostLines = 10_000;
/** Most lines that are counted where only their number is shown. */
const mostCounted = 1_000;
/** Milliseconds for counting them: what reads them may have to start first. */
const countTimeout = 300;

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
    details: `Shows lines in which the id of the call stands, and those that were written while the call ran, if the history knows of no other call that the function had then; at most ${mostLines}. A line is there about two seconds after it was written. A call whose function the sender may not see is 404.`,
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
export function linesOfCall(
  history: HistoryParts,
  act: string,
  call: HistoryCall,
  now: number,
): Promise<readonly CallLine[]> {
  const { reads: kept } = requiredLogs(history, act);
  return findCallLines({ kept, history: history.reads }, call, { now, limit: mostLines });
}

/**
 * The kept logs; `act` completes the sentence `Cannot <act>`.
 * @throws PlatformError `history_off`
 */
export function requiredLogs({ logs }: HistoryParts, act: string): KeptLogParts {
  if (logs !== undefined) return logs;
  throw new PlatformError("history_off", `Cannot ${act}: no lines are kept; the setting kept_logs turns that on`);
}

/** How many lines of a call are kept; without the number while that is not known. */
export async function keptLinesOf(history: HistoryParts, call: HistoryCall, now: number): Promise<KeptLines> {
  const { logs, reads } = history;
  if (logs === undefined) return { kept: false };
  try {
    const finding = findCallLines({ kept: logs.reads, history: reads }, call, { now, limit: mostCounted });
    const lines = await Promise.race([finding, pause(countTimeout, undefined, { ref: false })]);
    return lines === undefined ? { kept: true } : { kept: true, lines: lines.length };
  } catch (err) {
    if (err instanceof PlatformError) return { kept: true };
    throw err;
  }
}

async function* recordsOf(lines: readonly CallLine[]): AsyncGenerator<CallLogLine> {
  for (const { line, match } of lines) {
    const { place: _, ...record } = line;
    yield { ...record, match };
  }
}
