import { traceIdOf } from "../../core/headers/trace-parent.ts";
import type { AccessLog } from "./access-log.ts";
import type { CallCuts } from "./call-cuts.ts";
import type { ObservedEnd, CallFacts, CutReason } from "./call-facts.ts";
import type { Exchange } from "./exchange.ts";
import type { KeepCall } from "./sync/keep-sync-calls.ts";
import type { RouteCounts } from "../metrics/route-counts.ts";

/** Status of a call whose client left before the reply's head. */
const clientLeft = 499;
/**
 * Statuses of calls whose connection the gateway closed: a reply's head, if sent, does not tell how the reply ended.
 */
const cutStatus: Readonly<Record<CutReason, number>> = {
  idle: 504,
  timeout: 504,
  replica: 502,
  draining: 503,
  expired: 401,
  unread: clientLeft,
};
const switched = 101;

/**
 * The status that is counted for a closed response; `cut` is the reason if the gateway closed it. A WebSocket counts as
 * 101, however it ended. A reply that its client left in the middle counts by its head, as that is how streams end.
 */
export function endStatus(response: Pick<Exchange, "headersSent" | "statusCode">, cut?: CutReason): number {
  if (response.headersSent && response.statusCode === switched) return switched;
  if (cut !== undefined) return cutStatus[cut];
  return response.headersSent ? response.statusCode : clientLeft;
}

/** The same for a queued run: if its queue-worker left, the reply does not count, whatever its head said. */
export function endRunStatus(
  response: Pick<Exchange, "headersSent" | "statusCode" | "writableEnded">,
  cut?: CutReason,
): number {
  return cut === undefined && !response.writableEnded ? clientLeft : endStatus(response, cut);
}

/** Observes requests to one of the two invocation routes, for the metrics by route and for the access log. */
export interface CallObserver {
  /** A synchronous call ended, or the reply to an asynchronous one was sent. */
  ended(facts: CallFacts, end: ObservedEnd): void;
  /** A request that is not a call was replied to. */
  answered(facts: Pick<CallFacts, "exchange" | "startedAt">, status: number): void;
}

/** Without `accessLog` only the metrics are kept. */
export function createCallObserver(parts: {
  readonly path: string;
  readonly counts: RouteCounts;
  readonly accessLog: AccessLog | undefined;
  /** Called for calls that were cut. */
  readonly cuts?: CallCuts;
  /** Called for each call that ended. */
  readonly keep?: KeepCall | undefined;
  /** The client behind trusted proxies. */
  readonly clientOf: (peer: string | undefined, forwardedFor: string | undefined) => string;
}): CallObserver {
  const { path, counts, accessLog, cuts, keep, clientOf } = parts;
  return {
    ended: (facts, end) => {
      const { exchange, callId, ref, traceParent } = facts;
      const { status, duration, bytesIn, bytesOut } = end;
      counts.add(path, exchange.method, status, duration);
      if (end.cut !== undefined) cuts?.(end.cut, facts, end);
      keep?.(facts, end);
      accessLog?.({
        callId,
        functionName: ref?.name,
        namespace: ref?.namespace,
        method: exchange.method,
        status,
        duration,
        bytesIn,
        bytesOut,
        client: clientOf(exchange.remoteAddress, exchange.head.forwardedFor),
        traceId: traceIdOf(traceParent),
      });
    },
    answered: ({ exchange, startedAt }, status) =>
      counts.add(path, exchange.method, status, performance.now() - startedAt),
  };
}
