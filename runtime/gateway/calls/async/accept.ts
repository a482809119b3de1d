import { randomUUID } from "node:crypto";

import { header } from "../../../api/names.ts";
import { PlatformError } from "../../../api/platform-error.ts";
import { acceptCall, type Accepted } from "../../../core/calls/accept-call.ts";
import type { QueuedCall } from "../../../core/calls/call.ts";
import { withoutHeaders } from "../../../core/headers/header-list.ts";
import type { AdmittedCall } from "../admission.ts";
import { endStatus } from "../call-observer.ts";
import { applyCors, corsRuleOf } from "../cors.ts";
import { createTraceParent } from "../create-trace-parent.ts";
import type { Exchange } from "../exchange.ts";
import type { RequestHead } from "../request-head.ts";
import { asyncFunctionPrefix } from "../split-target.ts";
import { callbackTarget, callQueueing, type CallQueueing } from "./acceptance-checks.ts";
import type { AsyncParts } from "./async-parts.ts";
import { readBody } from "./read-body.ts";

/** Headers that a queued call stores in fields of their own. */
const carriedApart = new Set([header.callbackUrl, header.callDepth].map((name) => name.toLowerCase()));

/** Results of the checks before the body is read. */
interface Checked extends AdmittedCall, CallQueueing {
  readonly callbackUrl: string | undefined;
}

/** POST `/async-function/…`: checks in the order of contract §4.2, reads the body, queues the call, replies 202. */
export function accept(parts: AsyncParts, exchange: Exchange): void {
  const { head } = exchange;
  const callId = head.callId ?? randomUUID();
  const traceParent = head.traceParent ?? createTraceParent();
  const startedAt = performance.now();
  const named = parts.admission.find(exchange, asyncFunctionPrefix);
  const rule = corsRuleOf(named.entry);
  if (rule !== undefined) applyCors(exchange, rule);
  const ref = named.entry?.ref ?? named.target;
  const ended = { callId, bytesIn: 0, bytesOut: 0 };
  exchange.once("close", () => {
    const facts = { exchange, callId: ended.callId, ref, traceParent, startedAt };
    parts.observer.ended(facts, { ...ended, status: endStatus(exchange), duration: performance.now() - startedAt });
  });
  const fail = (err: unknown): void => {
    parts.metrics.refused.inc({ reason: err instanceof PlatformError ? err.code : "internal_error" });
    if (err instanceof PlatformError) ended.callId = err.callId ?? callId;
    const context = { callId: ended.callId, traceParent, invocation: true };
    ended.bytesOut = parts.writeError(exchange, err, context);
  };
  const refuse = (err: unknown): void => {
    // The body of a refused call is not worth reading.
    if (head.chunked || (head.contentLength ?? 0) > 65_536) exchange.shouldKeepAlive = false;
    fail(err);
  };
  const proceed = (admitted: AdmittedCall, callbackUrl: string | undefined): void => {
    if (exchange.destroyed) return;
    const checked: Checked = { ...admitted, ...callQueueing(parts, admitted.limits), callbackUrl };
    // Better no byte of the body is read than all in vain.
    parts.acceptances.check(callId, head.contentLength ?? 0);
    readBody(exchange, parts.bodyLimit, (outcome) => {
      if (outcome === "gone") return;
      if ("error" in outcome) {
        exchange.shouldKeepAlive = false;
        fail(outcome.error);
        return;
      }
      const start = process.hrtime.bigint();
      ended.bytesIn = outcome.body.byteLength;
      let done: () => void;
      try {
        done = parts.acceptances.begin(callId, ended.bytesIn);
      } catch (err) {
        fail(err);
        return;
      }
      const call = callOf(callId, checked, head, traceParent, outcome.body);
      acceptCall(parts, call, checked.maxRetries, { isAbandoned: () => exchange.destroyed })
        .finally(done)
        .then(
          (accepted) => {
            ended.callId = accepted.id;
            parts.metrics.accepted.inc({ queue_name: checked.queue.name });
            parts.metrics.seconds.observe(Number(process.hrtime.bigint() - start) / 1e9);
            replyAccepted(exchange, accepted);
          },
          (err: unknown) => fail(err),
        );
    });
  };
  try {
    const callbackUrl = callbackTarget(parts, head.callbackUrl);
    const admitted = parts.admission.admit(named, exchange, head, callId);
    if (admitted instanceof Promise) admitted.then((call) => proceed(call, callbackUrl)).catch(refuse);
    else proceed(admitted, callbackUrl);
  } catch (err) {
    refuse(err);
  }
}

function replyAccepted(exchange: Exchange, { id, start }: Accepted): void {
  exchange.writeHead(202, [
    header.callId,
    id,
    header.startTime,
    start.toString(),
    "X-Content-Type-Options",
    "nosniff",
    "Content-Length",
    "0",
  ]);
  exchange.end();
}

function callOf(callId: string, checked: Checked, head: RequestHead, traceParent: string, body: Buffer): QueuedCall {
  const headers = [...withoutHeaders(head.forward.list, carriedApart), "traceparent", traceParent];
  if (checked.authorization !== undefined) headers.push("Authorization", checked.authorization);
  headers.push(...checked.principalHeaders);
  return {
    id: callId,
    queue: checked.queue.name,
    function: checked.entry.ref,
    start: BigInt(Date.now()) * 1_000_000n,
    depth: head.callDepth ?? 0,
    method: "POST",
    path: checked.target.path,
    query: checked.target.query,
    callbackUrl: checked.callbackUrl,
    parentId: undefined,
    headers,
    body,
  };
}
