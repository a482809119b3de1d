import { constants, type Http2Stream } from "node:http2";

/** Resets a stream whose reply is not whole; one whose reply was sent only stops being read. */
export function cutStream(stream: Http2Stream): void {
  if (stream.closed || stream.destroyed) return;
  if (stream.writableFinished) stopReading(stream);
  // Not by close(), which ends the stream first: what was sent of the reply would look whole.
  else stream.destroy(new Error("the reply was broken off"));
}

/** Asks for no more of what comes, without an error (RFC 9113 §8.1), and throws away what came. */
export function stopReading(stream: Http2Stream): void {
  if (!stream.closed) stream.close(constants.NGHTTP2_NO_ERROR);
  // A stream with bytes to read is never destroyed, and counts among those that its connection may have open.
  stream.removeAllListeners("data").resume();
}
