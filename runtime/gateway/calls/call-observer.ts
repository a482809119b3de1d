import { traceIdOf } from "../../core/headers/trace-parent.ts";
import type { AccessLog } from "./access-log.ts";
import type { CallCuts, CutReason } from "./call-cuts.ts";
import type { CallRequest, CallResponse } from "./exchange.ts";
import type { RequestHead } from "../edge/request-head.ts";
import type { RouteCounts } from "../metrics/route-counts.ts";

/** What is known of a call from its beginning. */
export interface CallFacts {
  readonly request: CallRequest;
  readonly head: RequestHead;
  readonly callId: string;
  /** The function that is called; what its address says if there is no such function, undefined if it says none. */
  readonly ref: { readonly name: string; readonly namespace: string | undefined } | undefined;
  /** The one that the function gets. */
  readonly traceParent: string;
  /** When its head was read, in milliseconds of `performance.now()`. */
  readonly startedAt: number;
}

/** How it ended; bytes are those of bodies. */
export interface CallEnd {
  readonly status: number;
  /** Milliseconds since `startedAt`. */
  readonly duration: number;
  readonly bytesIn: number;
  readonly bytesOut: number;
  /** Why the gateway closed its connection before the reply was whole. */
  readonly cut?: CutReason | undefined;
}

/** Status of a call whose client left before the reply's head. */
const clientLeft = 499;
/** Statuses of calls whose connection the gateway closed; the head of a reply that may be out says nothing of its end. */
const cutStatus: Readonly<Record<CutReason, number>> = {
  idle: 504,
  timeout: 504,
  replica: 502,
  draining: 503,
  unread: clientLeft,
};
const switched = 101;

/**
 * The status by which a response that is closed counts; `cut` says why if the gateway closed it. A WebSocket is 101,
 * however it ended; a reply that its client left in the middle is what its head said, as streams end so.
 */
export function endStatus(response: Pick<CallResponse, "headersSent" | "statusCode">, cut?: CutReason): number {
  if (response.headersSent && response.statusCode === switched) return switched;
  if (cut !== undefined) return cutStatus[cut];
  return response.headersSent ? response.statusCode : clientLeft;
}

/** The same of a queued run: one whose queue-worker left is no answer, whatever its head said. */
export function endRunStatus(
  response: Pick<CallResponse, "headersSent" | "statusCode" | "writableEnded">,
  cut?: CutReason,
): number {
  return cut === undefined && !response.writableEnded ? clientLeft : endStatus(response, cut);
}

/** Hears of what came to one of the two invocation routes, for the metrics by route and for the access log. */
export interface CallObserver {
  /** A call ended, or an asynchronous one was answered. */
  ended(facts: CallFacts, end: CallEnd): void;
  /** A request that was no call was answered. */
  answered(facts: Pick<CallFacts, "request" | "startedAt">, status: number): void;
}

/** Without `accessLog` only the metrics are kept. */
export function createCallObserver(parts: {
  readonly path: string;
  readonly counts: RouteCounts;
  readonly accessLog: AccessLog | undefined;
  /** Hears of calls that were cut. */
  readonly cuts?: CallCuts;
  /** The client behind trusted proxies. */
  readonly clientOf: (peer: string | undefined, forwardedFor: string | undefined) => string;
}): CallObserver {
  const { path, counts, accessLog, cuts, clientOf } = parts;
  return {
    ended: (facts, end) => {
      const { request, head, callId, ref, traceParent } = facts;
      const { status, duration, bytesIn, bytesOut } = end;
      counts.add(path, request.method, status, duration);
      if (end.cut !== undefined) cuts?.(end.cut, facts, end);
      accessLog?.({
        callId,
        functionName: ref?.name,
        namespace: ref?.namespace,
        method: request.method ?? "",
        status,
        duration,
        bytesIn,
        bytesOut,
        client: clientOf(request.socket.remoteAddress, head.forwardedFor),
        traceId: traceIdOf(traceParent),
      });
    },
    answered: ({ request, startedAt }, status) =>
      counts.add(path, request.method, status, performance.now() - startedAt),
  };
}
