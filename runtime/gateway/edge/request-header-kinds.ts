import { isHopByHop } from "../../core/headers/hop-by-hop.ts";
import { header, invokeHeader, isProxyHeader, principalHeader } from "../../api/names.ts";
import { HeaderKinds } from "../calls/sync/header-kinds.ts";

/** What the gateway does with a request header. */
export const requestHeader = {
  pass: 0,
  /** The W3C trace context; its state passes only beside a valid parent. */
  traceParent: 1,
  traceState: 2,
  /** Concerns this connection only. */
  hop: 3,
  /** A platform header that clients must not send, or a twin of one spelt with `_`. */
  forbidden: 4,
  /** What only a proxy may state (`isProxyHeader`), other than the three that follow. */
  forwarded: 5,
  forwardedFor: 6,
  forwardedHost: 7,
  forwardedProto: 8,
  connection: 9,
  upgrade: 10,
  expect: 11,
  proxyConnection: 12,
  te: 13,
  /** Passes without the platform's own. */
  cookie: 14,
  startTime: 15,
  functionStatus: 16,
  /** From here on: at most once (`security.md` H3). */
  host: 17,
  authorization: 18,
  contentType: 19,
  contentLength: 20,
  transferEncoding: 21,
  callId: 22,
  callbackUrl: 23,
  callDepth: 24,
  invokeKey: 25,
  invokeTimeout: 26,
} as const;

export type RequestHeaderKind = (typeof requestHeader)[keyof typeof requestHeader];

const known: ReadonlyMap<string, RequestHeaderKind> = new Map<string, RequestHeaderKind>([
  ["traceparent", requestHeader.traceParent],
  ["tracestate", requestHeader.traceState],
  [header.callAttempt.toLowerCase(), requestHeader.forbidden],
  [header.parentCallId.toLowerCase(), requestHeader.forbidden],
  [header.weirAuth.toLowerCase(), requestHeader.forbidden],
  [principalHeader.subject.toLowerCase(), requestHeader.forbidden],
  [principalHeader.issuer.toLowerCase(), requestHeader.forbidden],
  [principalHeader.claims.toLowerCase(), requestHeader.forbidden],
  [invokeHeader.key.toLowerCase(), requestHeader.invokeKey],
  [invokeHeader.timeout.toLowerCase(), requestHeader.invokeTimeout],
  [header.forwardedFor.toLowerCase(), requestHeader.forwardedFor],
  [header.forwardedHost.toLowerCase(), requestHeader.forwardedHost],
  [header.forwardedProto.toLowerCase(), requestHeader.forwardedProto],
  ["connection", requestHeader.connection],
  ["proxy-connection", requestHeader.proxyConnection],
  ["keep-alive", requestHeader.hop],
  ["upgrade", requestHeader.upgrade],
  ["expect", requestHeader.expect],
  ["te", requestHeader.te],
  [header.startTime.toLowerCase(), requestHeader.startTime],
  [header.functionStatus.toLowerCase(), requestHeader.functionStatus],
  [header.durationSeconds.toLowerCase(), requestHeader.pass],
  [header.functionName.toLowerCase(), requestHeader.pass],
  [header.retry.toLowerCase(), requestHeader.pass],
  [header.retryMax.toLowerCase(), requestHeader.pass],
  [header.resultTruncated.toLowerCase(), requestHeader.pass],
  [header.internal.toLowerCase(), requestHeader.pass],
  ["cookie", requestHeader.cookie],
  ["host", requestHeader.host],
  ["authorization", requestHeader.authorization],
  ["content-type", requestHeader.contentType],
  ["content-length", requestHeader.contentLength],
  ["transfer-encoding", requestHeader.transferEncoding],
  [header.callId.toLowerCase(), requestHeader.callId],
  [header.callbackUrl.toLowerCase(), requestHeader.callbackUrl],
  [header.callDepth.toLowerCase(), requestHeader.callDepth],
]);

/** Classifies request headers by name, in any spelling. */
export const requestHeaderKinds = new HeaderKinds<RequestHeaderKind>(known, {
  twin: requestHeader.forbidden,
  other: (lowerName) => {
    const dashed = lowerName.replaceAll("_", "-");
    if (dashed.startsWith("weir-")) return requestHeader.forbidden;
    // Spelt with `_` it is not from a trusted proxy: a client sent it past the proxy.
    if (isProxyHeader(dashed)) return dashed === lowerName ? requestHeader.forwarded : requestHeader.forbidden;
    return isHopByHop(dashed) ? requestHeader.hop : requestHeader.pass;
  },
});

/** Headers by which a callback describes its call: they pass as data, and no hop may remove them (`security.md` H6). */
const callbackFacts = /^x-(?:function-|retry|duration-seconds$)/;

/** Headers that `Connection` must not name, because a hop must not be able to remove them (`security.md` H7). */
export function isProtectedHeader(lowerName: string): boolean {
  const kind = requestHeaderKinds.of(lowerName);
  return (
    callbackFacts.test(lowerName) ||
    kind >= requestHeader.startTime ||
    kind === requestHeader.forbidden ||
    (kind >= requestHeader.forwarded && kind <= requestHeader.forwardedProto)
  );
}
