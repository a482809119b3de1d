import type { Duplex } from "node:stream";

import { endToEndHeaders } from "../../core/headers/hop-by-hop.ts";
import type { UpstreamCall, UpstreamListener } from "../../core/ports/upstream.ts";
import { writeHeaders } from "../../http1/write-headers.ts";
import { joinSockets } from "../../process/sockets/join-sockets.ts";
import { nodeHttp } from "../node-http.ts";
import { replyFault } from "./reply-fault.ts";

/** Bytes read of a client before its upgrade is agreed to; beyond them, reading pauses until then. */
const maxEarly = 65_536;
const switching = 101;

/**
 * Sends a request to switch protocols by `dispatch`, and joins the two connections once the process has agreed. Any
 * other reply is passed on and ends the client's connection. `head` are bytes that were already read of it.
 */
export function passUpgrade(
  dispatch: (listener: UpstreamListener) => UpstreamCall,
  socket: Duplex,
  head: Buffer,
): void {
  const early = [head];
  let bytes = head.byteLength;
  let begun = false;
  // Read from the start: only then is it noticed that a client leaves before the response.
  const collect = (chunk: Buffer): void => {
    early.push(chunk);
    bytes += chunk.byteLength;
    if (bytes >= maxEarly) socket.pause();
  };
  const onLeave = (): void => void socket.destroy();
  const call = dispatch({
    onHead: (status, headers) => {
      begun = true;
      socket.write(`${headText(status, endToEndHeaders(headers))}Connection: close\r\n\r\n`, "latin1");
    },
    onData: (chunk) => {
      if (socket.write(Buffer.from(chunk)) || socket.destroyed) return true;
      socket.once("drain", () => call.resume());
      return false;
    },
    onEnd: () => void socket.end(),
    onError: (kind, err) => {
      if (begun) {
        socket.destroy();
        return;
      }
      const { status, sentence } = replyFault(kind, err);
      socket.end(
        `${headText(status, ["Content-Type", "text/plain; charset=utf-8"])}Connection: close\r\n\r\n${String(sentence)}\n`,
        "latin1",
      );
    },
    onUpgrade: (headers, peer) => {
      socket.off("data", collect).off("end", onLeave).pause();
      socket.write(`${headText(switching, headers)}\r\n`, "latin1");
      for (const chunk of early) peer.write(chunk);
      joinSockets(socket, peer);
    },
  });
  socket.on("error", () => call.abort());
  socket.once("close", () => call.abort());
  socket.on("data", collect).once("end", onLeave);
}

function headText(status: number, headers: readonly string[]): string {
  return `HTTP/1.1 ${status} ${nodeHttp.STATUS_CODES[status] ?? "unknown"}\r\n${writeHeaders(headers).lines}`;
}
