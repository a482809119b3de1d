import { header, principalHeader } from "../../api/names.ts";
import { CachedHeaders } from "../../core/headers/cached-headers.ts";
import type { RequestHead } from "../calls/request-head.ts";
import { requestHeader, requestHeaderKinds } from "./request-header-kinds.ts";

/** Accepted from queue-workers; dropped from any other client. */
const workerHeaders = new Set(
  [header.callAttempt, header.parentCallId, ...Object.values(principalHeader)].map((name) => name.toLowerCase()),
);

const passing: ReadonlySet<number> = new Set([
  requestHeader.pass,
  requestHeader.cookie,
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
 * The head of a queued call that its queue-worker sends through the gateway. Headers that were checked when the call
 * was accepted pass unchanged, including forwarding headers and those that only the platform may send.
 */
export function workerHead(rawHeaders: readonly string[], head: RequestHead): RequestHead {
  const forward: string[] = [];
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] ?? "";
    if (passing.has(requestHeaderKinds.of(name)) || workerHeaders.has(name.toLowerCase()))
      forward.push(name, rawHeaders[index + 1] ?? "");
  }
  return { ...head, forward: new CachedHeaders(forward), fromWorker: true };
}
