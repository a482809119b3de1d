import type { IncomingMessage } from "node:http";

import type { WaitingCaller } from "../../core/wake.ts";

/**
 * A call as one that waits for a replica: in memory it takes about its target, its headers, and as much of its body as is
 * read before anybody asks for it.
 */
export function waitingCaller(request: IncomingMessage, signal: AbortSignal): WaitingCaller {
  const { url = "", rawHeaders, headers, readableHighWaterMark } = request;
  const head = rawHeaders.reduce((sum, text) => sum + text.length, url.length);
  const chunked = headers["transfer-encoding"] !== undefined;
  const length = chunked ? readableHighWaterMark : Number(headers["content-length"] ?? 0);
  return { signal, bytes: head + Math.min(length, readableHighWaterMark) };
}
