import { header } from "../../api/names.ts";
import { CachedHeaders } from "../../core/headers/cached-headers.ts";
import type { RequestHead } from "../calls/request-head.ts";
import { requestHeader, requestHeaderKinds } from "./request-header-kinds.ts";

/** Written by the queue-worker itself, where anybody else's are dropped. */
const own = new Set([header.callAttempt, header.parentCallId].map((name) => name.toLowerCase()));

const passing: ReadonlySet<number> = new Set([
  requestHeader.pass,
  requestHeader.traceParent,
  requestHeader.forwarded,
  requestHeader.forwardedFor,
  requestHeader.forwardedHost,
  requestHeader.forwardedProto,
  requestHeader.functionStatus,
  requestHeader.contentType,
  requestHeader.callbackUrl,
  requestHeader.callDepth,
]);

/**
 * The head of a queued call that its queue-worker sends through the gateway: what was checked when the call was accepted
 * passes as it was then, forwarding headers and those that only the platform may send among it.
 */
export function workerHead(rawHeaders: readonly string[], head: RequestHead): RequestHead {
  const forward: string[] = [];
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] ?? "";
    if (passing.has(requestHeaderKinds.of(name)) || own.has(name.toLowerCase()))
      forward.push(name, rawHeaders[index + 1] ?? "");
  }
  return { ...head, forward: new CachedHeaders(forward), fromWorker: true };
}
