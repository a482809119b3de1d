import { getDefaultHighWaterMark } from "node:stream";

import type { WaitingCaller } from "../../../core/replicas/wake.ts";
import type { Exchange } from "../exchange.ts";

/** Bytes of a body that are read before anybody asks for them: as many as a stream of Node holds. */
const mostRead = getDefaultHighWaterMark(false);

/**
 * A call as one that waits for a replica: in memory it takes about its target, its headers, and as much of its body as is
 * read before anybody asks for it.
 */
export function waitingCaller({ url, rawHeaders, head }: Exchange, signal: AbortSignal): WaitingCaller {
  const texts = rawHeaders.reduce((sum, text) => sum + text.length, url.length);
  const body = head.chunked ? mostRead : (head.contentLength ?? 0);
  return { signal, bytes: texts + Math.min(body, mostRead) };
}
