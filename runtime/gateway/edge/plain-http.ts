import type { Socket } from "node:net";
import type { Server, TLSSocket } from "node:tls";

import { writeRaw } from "./write-raw.ts";

const sentence = "Cannot read request: this port speaks HTTPS: use https:// in the address";

/** Answers clients that speak HTTP without TLS to a server of TLS; OpenSSL knows them by their first bytes. */
export function answerPlainHttp(listener: Server): void {
  // The TLS socket is closed by the time of the error: the answer goes out by the connection below it.
  const shakingHands = new Map<string, Socket>();
  listener.on("connection", (socket: Socket) => {
    const peer = peerOf(socket);
    shakingHands.set(peer, socket);
    socket.once("close", () => shakingHands.delete(peer));
  });
  listener.on("secureConnection", (socket: TLSSocket) => shakingHands.delete(peerOf(socket)));
  listener.on("tlsClientError", (err: Error, socket: TLSSocket) => {
    if (!("code" in err) || err.code !== "ERR_SSL_HTTP_REQUEST") return;
    const connection = shakingHands.get(peerOf(socket));
    if (connection?.writable === true) writeRaw(connection, 400, sentence);
  });
}

function peerOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress ?? ""} ${remotePort ?? ""}`;
}
