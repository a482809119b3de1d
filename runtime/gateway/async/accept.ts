import { randomUUID } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";

import { editions } from "../../api/editions.ts";
import { defaultQueue, header } from "../../api/names.ts";
import { PlatformError } from "../../api/platform-error.ts";
import { acceptCall } from "../../core/accept-call.ts";
import { judgeUrl, parseCallbackUrl } from "../../core/callback-policy.ts";
import type { QueuedCall } from "../../core/call.ts";
import type { TableEntry } from "../../core/function-table.ts";
import { withoutHeaders } from "../../core/header-list.ts";
import type { QueueDeclaration } from "../../core/ports/queue-catalog.ts";
import type { RequestHead } from "../invocation/request-head.ts";
import { asyncFunctionPrefix, splitTarget, type SplitTarget } from "../invocation/split-target.ts";
import { createTraceParent } from "../invocation/trace-parent.ts";
import type { AsyncParts } from "./async-parts.ts";
import { readBody } from "./read-body.ts";

/** Headers that the call carries in fields of its own. */
const carriedApart = new Set([header.callbackUrl, header.callDepth].map((name) => name.toLowerCase()));

/** Everything that was checked before the body is read. */
interface Checked {
  readonly target: SplitTarget;
  readonly entry: TableEntry;
  readonly queue: QueueDeclaration;
  readonly maxRetries: number;
  readonly callbackUrl: string | undefined;
  readonly authorization: string | undefined;
}

/** POST `/async-function/…`: checks in the order of contract §4.2, reads the body, queues the call, answers 202. */
export function accept(parts: AsyncParts, request: IncomingMessage, response: ServerResponse, head: RequestHead): void {
  const callId = head.callId ?? randomUUID();
  const fail = (err: unknown, sentId = callId): void => {
    parts.metrics.refused.inc({ reason: err instanceof PlatformError ? err.code : "internal_error" });
    parts.writeError(request, response, err, {
      callId: err instanceof PlatformError ? (err.callId ?? sentId) : sentId,
      invocation: true,
    });
  };
  let checked: Checked;
  try {
    checked = check(parts, request, head);
  } catch (err) {
    // The body of a refused call is not worth reading.
    if (head.chunked || (head.contentLength ?? 0) > 65_536) response.shouldKeepAlive = false;
    fail(err);
    return;
  }
  readBody(request, head.contentLength, parts.bodyLimit, (outcome) => {
    if (outcome === "gone") return;
    if ("error" in outcome) {
      response.shouldKeepAlive = false;
      fail(outcome.error);
      return;
    }
    const start = process.hrtime.bigint();
    acceptCall(parts, callOf(callId, checked, head, outcome.body), checked.maxRetries).then(
      (accepted) => {
        parts.metrics.accepted.inc({ queue_name: checked.queue.name });
        parts.metrics.seconds.observe(Number(process.hrtime.bigint() - start) / 1e9);
        response.writeHead(202, [
          header.callId,
          accepted.id,
          header.startTime,
          accepted.start.toString(),
          "X-Content-Type-Options",
          "nosniff",
          "Content-Length",
          "0",
        ]);
        response.end();
      },
      (err: unknown) => fail(err),
    );
  });
}

/** @throws PlatformError for the first check that fails */
function check(parts: AsyncParts, request: IncomingMessage, head: RequestHead): Checked {
  let callbackUrl: string | undefined;
  if (head.callbackUrl !== undefined) {
    const url = parseCallbackUrl(head.callbackUrl);
    const why = judgeUrl(url, parts.callbackRules);
    if (why !== undefined) throw new PlatformError("invalid_callback_url", `Cannot call back at "${url.host}": ${why}`);
    callbackUrl = url.href;
  }
  const target = splitTarget(request.url ?? "", asyncFunctionPrefix);
  const entry = target === undefined ? undefined : parts.table.findKey(target.key);
  if (target === undefined || entry === undefined) {
    const named = (request.url ?? "").slice(asyncFunctionPrefix.length).split(/[/?]/, 1)[0] ?? "";
    throw new PlatformError("function_not_found", `Cannot call function "${named.slice(0, 127)}": it does not exist`);
  }
  const limits = parts.limitsOf(entry.wanted);
  let { authorization } = head;
  if (parts.invokeAuth || limits.authRequired) {
    parts.authorise(authorization, parts.clientOf(request.socket.remoteAddress, head.forwardedFor));
    authorization = undefined;
  } else if (authorization !== undefined && parts.isPlatformCredential(authorization)) {
    authorization = undefined;
  }
  if (limits.queue !== defaultQueue && editions[parts.edition].queues !== "named") {
    throw new PlatformError(
      "edition_limit",
      `Cannot use queue "${limits.queue}": named queues need edition enterprise`,
    );
  }
  const queue = parts.queues.find(limits.queue);
  if (queue === undefined)
    throw new PlatformError("queue_not_found", `Cannot use queue "${limits.queue}": it is not deployed`);
  const maxRetries = limits.retry.attempts ?? queue.retry.attempts;
  return { target, entry, queue, maxRetries, callbackUrl, authorization };
}

function callOf(callId: string, checked: Checked, head: RequestHead, body: Buffer): QueuedCall {
  const headers = withoutHeaders(head.forward, carriedApart);
  if (!head.traceParent) headers.push("traceparent", createTraceParent());
  if (checked.authorization !== undefined) headers.push("Authorization", checked.authorization);
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
