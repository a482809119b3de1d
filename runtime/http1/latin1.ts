/**
 * Up to so many bytes a body is made text, so that it leaves in one write with its head: Node joins a head and a text, and a
 * buffer beside the head costs a second piece and `writev`.
 */
export const joinedBody = 16_384;

/** Each byte as one character: what Node writes of it as latin1 are the same bytes. */
export function latin1(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("latin1");
}
