/** Follows the data of each transfer chunk (RFC 9112 §7.1). */
export const chunkEnd = "\r\n";

/** Ends a chunked body without trailers. */
export const lastChunk = "0\r\n\r\n";

/** Ends a chunked body; `trailers` are lines, each with its end. */
export function lastChunkWith(trailers: string): string {
  return trailers === "" ? lastChunk : `0\r\n${trailers}\r\n`;
}

/** Precedes `size` bytes of data; `size` is over 0, as a chunk of 0 bytes ends the body. */
export function chunkStart(size: number): string {
  return size.toString(16) + "\r\n";
}
