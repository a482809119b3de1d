/**
 * A body of up to this many bytes is turned into text, so that it leaves in one write with its head: Node joins head
 * and text, whereas a buffer after the head is a second chunk and costs a `writev`.
 */
export const joinedBody = 16_384;

/** Each byte as one character; written as latin1, the text yields the same bytes. */
export function latin1(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("latin1");
}
