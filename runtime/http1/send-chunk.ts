import type { Socket } from "node:net";

import { joinedBody, latin1 } from "./latin1.ts";

/**
 * Writes a chunk of a body between the texts that frame it, in as few writes as possible; texts have one character per
 * byte. `done` is called once the kernel has all of it; until then the socket owns the bytes. False asks to wait for
 * `drain`.
 */
export function sendChunk(
  socket: Socket,
  before: string,
  chunk: string | Uint8Array,
  after: string,
  done?: (err?: Error | null) => void,
): boolean {
  if (typeof chunk === "string") return socket.write(before + chunk + after, "latin1", done);
  if (before === "" && after === "") return socket.write(chunk, done);
  if (chunk.byteLength <= joinedBody) return socket.write(before + latin1(chunk) + after, "latin1", done);
  socket.cork();
  if (before !== "") socket.write(before, "latin1");
  let more: boolean;
  if (after === "") more = socket.write(chunk, done);
  else {
    socket.write(chunk);
    // Writes keep their order: once the kernel has this one, it has the chunk, too.
    more = socket.write(after, "latin1", done);
  }
  socket.uncork();
  return more;
}
