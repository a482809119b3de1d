import type { Socket } from "node:net";

import { joinedBody, latin1 } from "./latin1.ts";

/**
 * Sends a piece of a body between the texts that frame it, in as few writes as there can be; one character per byte.
 * `done` hears when all of it is with the kernel: until then the bytes are the socket's. False asks to wait for `drain`.
 */
export function sendPiece(
  socket: Socket,
  before: string,
  piece: string | Uint8Array,
  after: string,
  done?: (err?: Error | null) => void,
): boolean {
  if (typeof piece === "string") return socket.write(before + piece + after, "latin1", done);
  if (before === "" && after === "") return socket.write(piece, done);
  if (piece.byteLength <= joinedBody) return socket.write(before + latin1(piece) + after, "latin1", done);
  socket.cork();
  if (before !== "") socket.write(before, "latin1");
  let more: boolean;
  if (after === "") more = socket.write(piece, done);
  else {
    socket.write(piece);
    // In order: once this is with the kernel, the bytes are, too.
    more = socket.write(after, "latin1", done);
  }
  socket.uncork();
  return more;
}
