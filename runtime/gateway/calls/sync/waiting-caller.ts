import { getDefaultHighWaterMark } from "node:stream";

import type { WaitingCaller } from "../../../core/replicas/wake.ts";
import { Http1Request } from "../../edge/http1/http1-request.ts";
import type { CallRequest } from "../exchange.ts";

/** Bytes of a body that are read before anybody asks for them: as many as a stream of Node holds. */
const mostRead = getDefaultHighWaterMark(false);

/**
 * A call as one that waits for a replica: in memory it takes about its target, its headers, and as much of its body as is
 * read before anybody asks for it.
 */
export function waitingCaller(request: CallRequest, signal: AbortSignal): WaitingCaller {
  const { url = "" } = request;
  const rawHeaders: readonly string[] = request.rawHeaders;
  const head = rawHeaders.reduce((sum, text) => sum + text.length, url.length);
  if (request instanceof Http1Request) return { signal, bytes: head + Math.min(request.length ?? mostRead, mostRead) };
  const { headers, readableHighWaterMark } = request;
  const chunked = headers["transfer-encoding"] !== undefined;
  const length = chunked ? readableHighWaterMark : Number(headers["content-length"] ?? 0);
  return { signal, bytes: head + Math.min(length, readableHighWaterMark) };
}
