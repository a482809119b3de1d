import { constants, type Http2Stream } from "node:http2";

/** Resets a stream whose reply is not whole; one whose reply was sent only stops being read. */
export function cutStream(stream: Http2Stream): void {
  if (stream.closed || stream.destroyed) return;
  if (stream.writableFinished) stream.close(constants.NGHTTP2_NO_ERROR);
  // Not by close(), which ends the stream first: what was sent of the reply would look whole.
  else stream.destroy(new Error("the reply was broken off"));
}
