import { header } from "../../../api/names.ts";

/** Facts that differ from call to call. */
export interface OwnFacts {
  readonly callId: string;
  readonly startTime: string;
  readonly traceParent: string;
  readonly authorization: string | undefined;
  readonly contentLength: number | undefined;
}

/** The call's own headers, sent to the function after those forwarded from the client's head. */
export function ownHeaders({ callId, startTime, traceParent, authorization, contentLength }: OwnFacts): string[] {
  const own = [header.callId, callId, header.startTime, startTime, "traceparent", traceParent];
  if (authorization !== undefined) own.push("Authorization", authorization);
  if (contentLength !== undefined) own.push("Content-Length", String(contentLength));
  return own;
}
