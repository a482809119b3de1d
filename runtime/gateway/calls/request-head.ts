import type { CachedHeaders } from "../../core/headers/cached-headers.ts";

/** What the head of a request means. */
export interface RequestHead {
  /**
   * What goes on to a function, flat, in order and as spelt, then `X-Forwarded-For`, `-Host`, `-Proto`. Not among it:
   * hop-by-hop headers and what `Connection` names, `Host`, `Content-Length`, `Expect`, `Authorization`, `X-Call-Id`,
   * `X-Start-Time`, `traceparent`, and what only the platform may send. Among it: `X-Callback-Url`, `X-Call-Depth` if it
   * is a number, `X-Function-*`, `X-Retry*`, `X-Duration-Seconds`, `tracestate` if `traceparent` is valid.
   */
  readonly forward: CachedHeaders;
  /** UUID in lower case; undefined if none was sent, or no UUID. */
  readonly callId: string | undefined;
  readonly callbackUrl: string | undefined;
  readonly callDepth: number | undefined;
  /** Never in `forward`: whoever passes it on adds it. */
  readonly authorization: string | undefined;
  readonly contentLength: number | undefined;
  readonly chunked: boolean;
  /** Whether the request is a callback: it carries `X-Function-Status`. */
  readonly functionStatus: boolean;
  /** Digits only, as sent. */
  readonly startTime: string | undefined;
  /** Whether `Expect: 100-continue` was sent. */
  readonly expect: boolean;
  /** Lower case. */
  readonly upgrade: string | undefined;
  /** Whether `Connection` names `upgrade`, `close`, `keep-alive`. */
  readonly upgrades: boolean;
  readonly closes: boolean;
  readonly keeps: boolean;
  /** Undefined if none was sent, several, or no valid one; never in `forward`. */
  readonly traceParent: string | undefined;
  /** `X-Forwarded-For` as it came, to be believed only from a trusted proxy. */
  readonly forwardedFor: string | undefined;
  /** `Weir-Invoke` as it came; never in `forward`. */
  readonly invokeKey: string | undefined;
  /** Milliseconds; to be believed only with `fromWorker`. */
  readonly invokeTimeout: number | undefined;
  /** Whether a queue-worker sends it, which its key has shown. */
  readonly fromWorker: boolean;
}
