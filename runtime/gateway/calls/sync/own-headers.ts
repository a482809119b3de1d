import { header } from "../../../api/names.ts";

/** Facts that differ from call to call. */
export interface OwnFacts {
  readonly callId: string;
  readonly startTime: string;
  readonly traceParent: string;
  readonly authorization: string | undefined;
  readonly contentLength: number | undefined;
  /** Who calls, as the function is told; flat. */
  readonly principalHeaders: readonly string[];
}

/** The call's own headers, sent to the function after those forwarded from the client's head. */
export function ownHeaders(facts: OwnFacts): string[] {
  const { callId, startTime, traceParent, authorization, contentLength, principalHeaders } = facts;
  const own = [header.callId, callId, header.startTime, startTime, "traceparent", traceParent];
  if (authorization !== undefined) own.push("Authorization", authorization);
  if (contentLength !== undefined) own.push("Content-Length", String(contentLength));
  if (principalHeaders.length > 0) own.push(...principalHeaders);
  return own;
}
