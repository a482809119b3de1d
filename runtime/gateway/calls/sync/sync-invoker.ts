import { randomUUID } from "node:crypto";

import { PlatformError } from "../../../api/platform-error.ts";
import type { DesiredFunction } from "../../../core/functions/desired-function.ts";
import type { FunctionTable, TableEntry } from "../../../core/replicas/function-table.ts";
import type { Upstream } from "../../../core/ports/upstream.ts";
import type { Waker } from "../../../core/replicas/wake.ts";
import type { CallFacts, CallObserver } from "../call-observer.ts";
import { createCallLimits, type CallLimits, type CallSettings } from "./call-limits.ts";
import { createTraceParent } from "../create-trace-parent.ts";
import type { DeadlineSweep } from "./deadline-sweep.ts";
import type { CallRequest, CallResponse } from "../exchange.ts";
import { FlushLater } from "./flush-later.ts";
import type { FunctionCounts, InvocationCounts } from "../../../process/metrics/invocation-counts.ts";
import { ownHeaders } from "./own-headers.ts";
import { ReplyMemory } from "./reply-memory.ts";
import type { RequestHead } from "../../edge/request-head.ts";
import { functionPrefix, splitTarget } from "../split-target.ts";
import type { SyncCallParts } from "./sync-call-parts.ts";
import { SyncCall } from "./sync-call.ts";
import type { WriteError } from "../write-error.ts";

/** What the invoker of synchronous calls works with. */
export interface SyncInvokerParts {
  readonly table: FunctionTable;
  readonly waker: Pick<Waker, "wait">;
  readonly upstream: Upstream;
  readonly counts: InvocationCounts;
  readonly settings: CallSettings;
  /** Throws a PlatformError unless the credentials allow calling protected functions; `client` is who sends them. */
  readonly authorise: (authorization: string | undefined, client: string) => void;
  /** The client behind trusted proxies. */
  readonly clientOf: (peer: string | undefined, forwardedFor: string | undefined) => string;
  /** Whether the value holds the platform's own Basic credentials, which no function may see. */
  readonly isPlatformCredential: (authorization: string) => boolean;
  readonly writeError: WriteError;
  /** Whether the gateway is stopping. */
  readonly draining: () => boolean;
  readonly observer: CallObserver;
  /** Holds the calls under way; whoever has it can cut them all. */
  readonly sweep: DeadlineSweep;
  /** Milliseconds without a byte, either way, after which a reply that began is cut. */
  readonly streamIdle: number;
  /** Milliseconds without a byte after which a WebSocket is closed. */
  readonly webSocketIdle: number;
}

/** What every call of a function needs of it. */
interface KnownFunction {
  readonly wanted: DesiredFunction;
  readonly limits: CallLimits;
  readonly counts: FunctionCounts;
}

/** Handles one request whose head was read and found well-formed. */
export type CallHandler = (request: CallRequest, response: CallResponse, head: RequestHead) => void;

/** Bodies up to this size are read to their end after an error, so that the connection can go on. */
const drainableBody = 65_536;

/** The handler of `/function/…`: contract §4.1, rules of the hot path. */
export function createSyncInvoker(parts: SyncInvokerParts): CallHandler {
  const callParts: SyncCallParts = {
    upstream: parts.upstream,
    waker: parts.waker,
    sweep: parts.sweep,
    flushLater: new FlushLater(),
    replies: new ReplyMemory(),
    writeError: parts.writeError,
    draining: parts.draining,
    observer: parts.observer,
    streamIdle: parts.streamIdle,
    webSocketIdle: parts.webSocketIdle,
  };
  const limitsOf = createCallLimits(parts.settings);
  const known = new WeakMap<TableEntry, KnownFunction>();
  /** One look-up: with thousands of functions each is a wait for memory. */
  const knownOf = (entry: TableEntry): KnownFunction => {
    let facts = known.get(entry);
    if (facts?.wanted !== entry.wanted) {
      facts = { wanted: entry.wanted, limits: limitsOf(entry.wanted), counts: parts.counts.of(entry.key) };
      known.set(entry, facts);
    }
    return facts;
  };

  return (request, response, head) => {
    const startedAt = performance.now();
    const callId = head.callId ?? randomUUID();
    const traceParent = head.traceParent ?? createTraceParent();
    const hasBody = head.chunked || (head.contentLength ?? 0) > 0;
    const target = splitTarget(request.url ?? "", functionPrefix);
    const entry = target === undefined ? undefined : parts.table.findKey(target.key);
    let begun = false;
    try {
      if (target === undefined || entry === undefined) throw notFound(request.url ?? "");
      const { limits: callLimits, counts } = knownOf(entry);
      let { authorization } = head;
      // A queued call was authorised when it was accepted, and its limit is that of its queue.
      if (callLimits.authRequired && !head.fromWorker) {
        parts.authorise(authorization, parts.clientOf(request.socket.remoteAddress, head.forwardedFor));
        authorization = undefined;
      } else if (authorization !== undefined && parts.isPlatformCredential(authorization)) {
        authorization = undefined;
      }
      const startTime = (head.functionStatus || head.fromWorker ? head.startTime : undefined) ?? `${Date.now()}000000`;
      const path = target.path === "" ? "/" : target.path;
      const call = new SyncCall(callParts, {
        request,
        response,
        head,
        entry,
        ref: entry.ref,
        limits: head.fromWorker ? { ...callLimits, timeout: head.invokeTimeout ?? callLimits.timeout } : callLimits,
        counts,
        callId,
        traceParent,
        startTime,
        startedAt,
        target: target.query === undefined ? path : `${path}?${target.query}`,
        headers: ownHeaders({ callId, startTime, traceParent, authorization, contentLength: head.contentLength }),
        hasBody,
      });
      begun = true;
      call.start();
    } catch (err) {
      if (hasBody && (head.chunked || (head.contentLength ?? 0) > drainableBody)) response.shouldKeepAlive = false;
      const bytesOut = parts.writeError(request, response, err, { callId, traceParent, invocation: true });
      if (begun) return;
      const facts: CallFacts = { request, head, callId, traceParent, startedAt, ref: entry?.ref ?? target };
      parts.observer.ended(facts, {
        status: response.statusCode,
        duration: performance.now() - startedAt,
        bytesIn: 0,
        bytesOut,
      });
    }
  };
}

function notFound(target: string): PlatformError {
  const named = target.slice(functionPrefix.length).split(/[/?]/, 1)[0] ?? "";
  return new PlatformError("function_not_found", `Cannot call function "${named.slice(0, 127)}": it does not exist`);
}
