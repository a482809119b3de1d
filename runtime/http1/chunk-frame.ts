/** What stands behind the data of each chunk (RFC 9112 §7.1). */
export const chunkEnd = "\r\n";

/** What ends a body in chunks; it has no trailers. */
export const lastChunk = "0\r\n\r\n";

/** What stands before so many bytes of data; none would be the end. */
export function chunkStart(size: number): string {
  return size.toString(16) + "\r\n";
}
