import type { BodyStream } from "../exchange.ts";

/** The body of a request on its way to a function: its bytes if they are here; null if it has none. */
export type CallBody = BodyStream | Buffer | null;

/** Whether something of it was taken or lost, so that it cannot be sent a second time. */
export function isTouched(body: CallBody): boolean {
  return isStream(body) && (body.consumed || body.destroyed);
}

/** Bytes that came of it so far. */
export function bytesOf(body: CallBody): number {
  return isStream(body) ? body.bytes : (body?.byteLength ?? 0);
}

/** What is left of it is not wanted. */
export function giveUp(body: CallBody): void {
  if (isStream(body)) body.destroy();
}

function isStream(body: CallBody): body is BodyStream {
  return body !== null && !(body instanceof Uint8Array);
}
