import type { CallDetail } from "../../../../api/schemas/history/call-detail.ts";
import { permitted } from "../../../../core/access/principal.ts";
import { callDetail } from "../../../../core/history/call-detail.ts";
import { gapsTouching } from "../../../../core/history/gaps-touching.ts";
import type { RequestSources } from "../../../../core/history/requests/find-request.ts";
import { resourceOf } from "../../../access/function-callers.ts";
import { QueuePositions } from "../../../calls/async/queue-positions.ts";
import type { AppParts } from "../../app-parts.ts";
import { keptLogOf, logsAction, unreadLogOf } from "./call-logs.ts";
import { keptRequestOf } from "./call-request.ts";
import { awayProgress } from "./known-call.ts";
import { getCallAction, readPermittedCall, type AskedOfCall } from "./permitted-call.ts";
import { requiredHistory } from "./required-history.ts";

/** What the detail of a call is read from. */
export type CallDetailParts = Pick<AppParts, "history" | "queueParts" | "requests">;

/** Reads everything that is known of a call, as far as its reader may see it; rejects as `readPermittedCall` does. */
export type ReadCallDetail = (asked: Pick<AskedOfCall, "id" | "principal" | "access">) => Promise<CallDetail>;

export function callDetailReader(parts: CallDetailParts): ReadCallDetail {
  const { ledger, letters, states } = parts.queueParts;
  const positions = new QueuePositions(states);
  const sources: RequestSources = { letters, requests: parts.requests };
  return async ({ id, principal, access }) => {
    const asked = { id, act: `show call "${id}"`, action: getCallAction, principal, access } as const;
    const { call, replays, progress } = await readPermittedCall(parts, asked);
    const { entry } = call.details;
    const history = requiredHistory(parts.history, asked.act);
    const mayShowLines = permitted(principal, { action: logsAction, resource: resourceOf(call.row) }).allowed;
    const [queuePosition, request, log] = await Promise.all([
      entry === undefined ? undefined : positions.of(entry),
      keptRequestOf(sources, call),
      // It was asked in vain a moment ago.
      progress === awayProgress ? unreadLogOf(history) : keptLogOf(history, call, ledger.now(), mayShowLines),
    ]);
    return callDetail(call, {
      now: ledger.now(),
      queuePosition,
      replays,
      request,
      logs: log.lines,
      tails: log.tails,
      history: gapsTouching(progress, call.row.accepted, call.row.ended ?? undefined),
    });
  };
}
