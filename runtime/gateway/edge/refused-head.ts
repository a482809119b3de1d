import { CachedHeaders } from "../../core/headers/cached-headers.ts";
import type { RequestHead } from "../calls/request-head.ts";

/** Stands for a head that broke a rule, of which nothing is known. The only reply to its exchange is an error. */
export const refusedHead: RequestHead = {
  forward: new CachedHeaders([]),
  callId: undefined,
  callbackUrl: undefined,
  callDepth: undefined,
  authorization: undefined,
  contentLength: undefined,
  chunked: false,
  functionStatus: false,
  startTime: undefined,
  expect: false,
  wantsTrailers: false,
  upgrade: undefined,
  upgrades: false,
  closes: false,
  keeps: false,
  traceParent: undefined,
  forwardedFor: undefined,
  invokeKey: undefined,
  invokeTimeout: undefined,
  fromWorker: false,
};
