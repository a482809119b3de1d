import { header } from "../../../api/names.ts";

/** What is known of one call alone. */
export interface OwnFacts {
  readonly callId: string;
  readonly startTime: string;
  readonly traceParent: string;
  readonly authorization: string | undefined;
  readonly contentLength: number | undefined;
}

/** The headers that a function gets of one call, behind those that the client's head forwards. */
export function ownHeaders({ callId, startTime, traceParent, authorization, contentLength }: OwnFacts): string[] {
  const own = [header.callId, callId, header.startTime, startTime, "traceparent", traceParent];
  if (authorization !== undefined) own.push("Authorization", authorization);
  if (contentLength !== undefined) own.push("Content-Length", String(contentLength));
  return own;
}
