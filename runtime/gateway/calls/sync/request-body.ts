import type { BodyStream } from "../exchange.ts";

/** The body of a request to a function: its bytes if they were received already; null if it has none. */
export type CallBody = BodyStream | Buffer | null;

/** Whether some of it was consumed or lost, so that it cannot be sent a second time. */
export function isTouched(body: CallBody): boolean {
  return isStream(body) && (body.consumed || body.destroyed);
}

/** Bytes received so far. */
export function bytesOf(body: CallBody): number {
  return isStream(body) ? body.bytes : (body?.byteLength ?? 0);
}

/** Discards the rest of it. */
export function giveUp(body: CallBody): void {
  if (isStream(body)) body.destroy();
}

function isStream(body: CallBody): body is BodyStream {
  return body !== null && !(body instanceof Uint8Array);
}
