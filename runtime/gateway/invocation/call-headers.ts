import { header } from "../../api/names.ts";

/** The headers of a call as the function gets them, but `Host`; `forward` is changed. */
export function callHeaders(
  forward: string[],
  facts: {
    readonly callId: string;
    readonly startTime: string;
    readonly traceParent: string;
    readonly authorization: string | undefined;
    readonly contentLength: number | undefined;
  },
): string[] {
  forward.push(header.callId, facts.callId, header.startTime, facts.startTime, "traceparent", facts.traceParent);
  if (facts.authorization !== undefined) forward.push("Authorization", facts.authorization);
  if (facts.contentLength !== undefined) forward.push("Content-Length", String(facts.contentLength));
  return forward;
}
