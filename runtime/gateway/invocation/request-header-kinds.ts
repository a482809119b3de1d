import { isHopByHop } from "../../core/hop-by-hop.ts";
import { header } from "../../api/names.ts";
import { HeaderKinds } from "./header-kinds.ts";

/** What the gateway does with a request header. */
export const requestHeader = {
  pass: 0,
  /** Passes, but matters once: the W3C trace context. */
  traceParent: 1,
  /** Concerns this connection only. */
  hop: 2,
  /** A platform header nobody outside may send, or a twin of one spelt with `_`. */
  forbidden: 3,
  /** An `X-Forwarded-*` header other than the three that follow. */
  forwarded: 4,
  forwardedFor: 5,
  forwardedHost: 6,
  forwardedProto: 7,
  connection: 8,
  upgrade: 9,
  expect: 10,
  startTime: 11,
  functionStatus: 12,
  /** From here on: at most once (`security.md` H3). */
  host: 13,
  authorization: 14,
  contentType: 15,
  contentLength: 16,
  transferEncoding: 17,
  callId: 18,
  callbackUrl: 19,
  callDepth: 20,
} as const;

export type RequestHeaderKind = (typeof requestHeader)[keyof typeof requestHeader];

const known: ReadonlyMap<string, RequestHeaderKind> = new Map<string, RequestHeaderKind>([
  ["traceparent", requestHeader.traceParent],
  [header.callAttempt.toLowerCase(), requestHeader.forbidden],
  [header.parentCallId.toLowerCase(), requestHeader.forbidden],
  ["weir-invoke", requestHeader.forbidden],
  ["weir-timeout", requestHeader.forbidden],
  [header.forwardedFor.toLowerCase(), requestHeader.forwardedFor],
  [header.forwardedHost.toLowerCase(), requestHeader.forwardedHost],
  [header.forwardedProto.toLowerCase(), requestHeader.forwardedProto],
  ["connection", requestHeader.connection],
  ["keep-alive", requestHeader.hop],
  ["upgrade", requestHeader.upgrade],
  ["expect", requestHeader.expect],
  [header.startTime.toLowerCase(), requestHeader.startTime],
  [header.functionStatus.toLowerCase(), requestHeader.functionStatus],
  [header.durationSeconds.toLowerCase(), requestHeader.pass],
  [header.functionName.toLowerCase(), requestHeader.pass],
  [header.retry.toLowerCase(), requestHeader.pass],
  [header.retryMax.toLowerCase(), requestHeader.pass],
  [header.resultTruncated.toLowerCase(), requestHeader.pass],
  [header.internal.toLowerCase(), requestHeader.pass],
  ["host", requestHeader.host],
  ["authorization", requestHeader.authorization],
  ["content-type", requestHeader.contentType],
  ["content-length", requestHeader.contentLength],
  ["transfer-encoding", requestHeader.transferEncoding],
  [header.callId.toLowerCase(), requestHeader.callId],
  [header.callbackUrl.toLowerCase(), requestHeader.callbackUrl],
  [header.callDepth.toLowerCase(), requestHeader.callDepth],
]);

/** What each request header is, by its name in any spelling. */
export const requestHeaderKinds = new HeaderKinds<RequestHeaderKind>(known, {
  twin: requestHeader.forbidden,
  other: (lowerName) => {
    const dashed = lowerName.replaceAll("_", "-");
    if (dashed.startsWith("weir-")) return requestHeader.forbidden;
    if (dashed.startsWith("x-forwarded-")) return requestHeader.forwarded;
    return isHopByHop(dashed) ? requestHeader.hop : requestHeader.pass;
  },
});

/** What a callback tells of its call: passes as data, but not away (`security.md` H6). */
const callbackFacts = /^x-(?:function-|retry|duration-seconds$)/;

/** Headers that `Connection` may not name: a hop must not be able to make them vanish (`security.md` H7). */
export function isProtectedHeader(lowerName: string): boolean {
  const kind = requestHeaderKinds.of(lowerName);
  return (
    callbackFacts.test(lowerName) ||
    kind >= requestHeader.startTime ||
    kind === requestHeader.forbidden ||
    (kind >= requestHeader.forwarded && kind <= requestHeader.forwardedProto)
  );
}
