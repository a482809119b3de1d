import type { CachedHeaders } from "../../core/headers/cached-headers.ts";

/** The interpreted head of a request. */
export interface RequestHead {
  /**
   * Headers forwarded to a function, flat, in order and as spelt, then `X-Forwarded-For`, `-Host`, `-Proto`. Excluded:
   * hop-by-hop headers and what `Connection` names, `Host`, `Content-Length`, `Expect`, `Authorization`, `X-Call-Id`,
   * `X-Start-Time`, `traceparent`, and what only the platform may send. Included: `X-Callback-Url`, `X-Call-Depth` if
   * it is a number, `X-Function-*`, `X-Retry*`, `X-Duration-Seconds`, `tracestate` if `traceparent` is valid.
   */
  readonly forward: CachedHeaders;
  /** UUID in lower case; undefined if none was sent or it is not a UUID. */
  readonly callId: string | undefined;
  readonly callbackUrl: string | undefined;
  readonly callDepth: number | undefined;
  /** Never in `forward`; added by the code that passes it on. */
  readonly authorization: string | undefined;
  readonly contentLength: number | undefined;
  readonly chunked: boolean;
  /** Whether the request is a callback: it carries `X-Function-Status`. */
  readonly functionStatus: boolean;
  /** Digits only, as sent. */
  readonly startTime: string | undefined;
  /** Whether `Expect: 100-continue` was sent. */
  readonly expect: boolean;
  /** Whether `TE` names `trailers`. */
  readonly wantsTrailers: boolean;
  /** Lower case. */
  readonly upgrade: string | undefined;
  /** Whether `Connection` names `upgrade`, `close`, `keep-alive`. */
  readonly upgrades: boolean;
  readonly closes: boolean;
  readonly keeps: boolean;
  /** Undefined if none or several were sent, or it is invalid; never in `forward`. */
  readonly traceParent: string | undefined;
  /** `X-Forwarded-For` as received; to be trusted only if a trusted proxy sent it. */
  readonly forwardedFor: string | undefined;
  /** `Weir-Invoke` as received; never in `forward`. */
  readonly invokeKey: string | undefined;
  /** Milliseconds; to be trusted only with `fromWorker`. */
  readonly invokeTimeout: number | undefined;
  /** Whether a queue-worker sent it, as its key proved. */
  readonly fromWorker: boolean;
}
