import { randomUUID } from "node:crypto";

import { callLimit, type PlatformTimes } from "../../../core/functions/function-limits.ts";
import type { Upstream } from "../../../core/ports/upstream.ts";
import type { Waker } from "../../../core/replicas/wake.ts";
import type { AdmittedCall, Admission, NamedFunction } from "../admission.ts";
import type { CallFacts } from "../call-facts.ts";
import { endStatus, type CallObserver } from "../call-observer.ts";
import { applyCors, corsRuleOf } from "../cors.ts";
import { createTraceParent } from "../create-trace-parent.ts";
import type { DeadlineSweep } from "./deadline-sweep.ts";
import type { Exchange } from "../exchange.ts";
import { lastMomentOf } from "../last-moment.ts";
import { FlushLater } from "./flush-later.ts";
import type { InvocationCounts } from "../../../process/metrics/invocation-counts.ts";
import { ownHeaders } from "./own-headers.ts";
import { ReplyHeadCache } from "./reply-head-cache.ts";
import { functionPrefix } from "../split-target.ts";
import type { SyncCallParts } from "./sync-call-parts.ts";
import { SyncCall } from "./sync-call.ts";
import type { WriteError } from "../write-error.ts";

/** What the handler of synchronous calls works with. */
export interface SyncInvokerParts {
  readonly admission: Admission;
  readonly waker: Pick<Waker, "wait">;
  readonly upstream: Upstream;
  readonly counts: InvocationCounts;
  readonly settings: PlatformTimes;
  readonly writeError: WriteError;
  /** Whether the gateway is stopping. */
  readonly draining: () => boolean;
  readonly observer: CallObserver;
  /** Holds the calls in flight; its owner can cut all of them. */
  readonly sweep: DeadlineSweep;
  /** Milliseconds without a byte in either direction after which a reply that has begun is cut. */
  readonly streamIdle: number;
  /** Milliseconds without a byte after which a WebSocket is closed. */
  readonly webSocketIdle: number;
}

/** Handles one request whose head is well-formed. */
export type HandleCall = (exchange: Exchange) => void;

/** A request to call a function, before it is admitted. */
interface CallRequest {
  readonly exchange: Exchange;
  readonly callId: string;
  readonly traceParent: string;
  readonly startedAt: number;
  readonly hasBody: boolean;
  readonly named: NamedFunction;
}

/** Bodies up to this many bytes are read to their end after an error, so that the connection can be reused. */
const drainableBody = 65_536;

/** The handler of `/function/…`: contract §4.1, rules of the hot path. */
export function createSyncInvoker(parts: SyncInvokerParts): HandleCall {
  const callParts: SyncCallParts = {
    upstream: parts.upstream,
    waker: parts.waker,
    sweep: parts.sweep,
    flushLater: new FlushLater(),
    replies: new ReplyHeadCache(),
    writeError: parts.writeError,
    draining: parts.draining,
    observer: parts.observer,
    streamIdle: parts.streamIdle,
    webSocketIdle: parts.webSocketIdle,
  };

  return (exchange) => {
    const { head } = exchange;
    const request: CallRequest = {
      exchange,
      callId: head.callId ?? randomUUID(),
      traceParent: head.traceParent ?? createTraceParent(),
      startedAt: performance.now(),
      hasBody: head.chunked || (head.contentLength ?? 0) > 0,
      named: parts.admission.find(exchange, functionPrefix),
    };
    try {
      const rule = corsRuleOf(request.named.entry);
      if (rule !== undefined && applyCors(exchange, rule)) return neverBegan(parts, request);
      const admitted = parts.admission.admit(request.named, exchange, head, request.callId);
      if (!(admitted instanceof Promise)) begin(parts, callParts, request, admitted);
      else {
        admitted.then(
          (call) => (exchange.destroyed ? neverBegan(parts, request) : begin(parts, callParts, request, call)),
          (err: unknown) => refuse(parts, request, err),
        );
      }
    } catch (err) {
      refuse(parts, request, err);
    }
  };
}

function begin(parts: SyncInvokerParts, callParts: SyncCallParts, request: CallRequest, admitted: AdmittedCall): void {
  const { exchange, callId, traceParent, startedAt, hasBody } = request;
  const { head } = exchange;
  const { target, entry, limits, authorization, principal, principalHeaders } = admitted;
  let begun = false;
  try {
    const limit = callLimit(parts.settings, limits);
    const startTime = (head.functionStatus || head.fromWorker ? head.startTime : undefined) ?? `${Date.now()}000000`;
    const path = target.path === "" ? "/" : target.path;
    const { contentLength } = head;
    const call = new SyncCall(callParts, {
      exchange,
      entry,
      ref: entry.ref,
      limits,
      // A queued call has the timeout that its queue-worker sends.
      limit: head.fromWorker ? { ...limit, timeout: head.invokeTimeout ?? limit.timeout } : limit,
      counts: parts.counts.of(entry.key),
      callId,
      traceParent,
      startTime,
      startedAt,
      target: target.query === undefined ? path : `${path}?${target.query}`,
      headers: ownHeaders({ callId, startTime, traceParent, authorization, contentLength, principalHeaders }),
      hasBody,
      lastMoment: lastMomentOf(principal),
    });
    begun = true;
    call.start();
  } catch (err) {
    if (begun) writeError(parts, request, err);
    else refuse(parts, request, err);
  }
}

function refuse(parts: SyncInvokerParts, request: CallRequest, err: unknown): void {
  neverBegan(parts, request, writeError(parts, request, err), true);
}

function writeError(parts: SyncInvokerParts, request: CallRequest, err: unknown): number {
  const { exchange, callId, traceParent, hasBody } = request;
  const { chunked, contentLength = 0 } = exchange.head;
  if (hasBody && (chunked || contentLength > drainableBody)) exchange.shouldKeepAlive = false;
  return parts.writeError(exchange, err, { callId, traceParent, invocation: true });
}

/** The call was refused, or its client left before it began. */
function neverBegan(parts: SyncInvokerParts, request: CallRequest, bytesOut = 0, isOwnError = false): void {
  const { exchange, callId, traceParent, startedAt, named } = request;
  const { entry, target } = named;
  const facts: CallFacts = { exchange, callId, traceParent, startedAt, entry, ref: entry?.ref ?? target };
  const duration = performance.now() - startedAt;
  parts.observer.ended(facts, { status: endStatus(exchange), duration, bytesIn: 0, bytesOut, isOwnError });
}
