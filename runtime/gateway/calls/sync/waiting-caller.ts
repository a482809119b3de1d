import { getDefaultHighWaterMark } from "node:stream";

import type { WaitingCaller } from "../../../core/replicas/wake.ts";
import type { Exchange } from "../exchange.ts";

/** Most bytes of a body that are buffered before it has a reader: the high-water mark of Node's streams. */
const maxBuffered = getDefaultHighWaterMark(false);

/**
 * A call that waits for a replica, with the memory it needs by estimate: its target, its headers, and as much of its
 * body as is buffered before it has a reader.
 */
export function waitingCaller({ url, rawHeaders, head }: Exchange, signal: AbortSignal): WaitingCaller {
  const texts = rawHeaders.reduce((sum, text) => sum + text.length, url.length);
  const body = head.chunked ? maxBuffered : (head.contentLength ?? 0);
  return { signal, bytes: texts + Math.min(body, maxBuffered) };
}
