import type { Socket } from "node:net";
import type { Server, TLSSocket } from "node:tls";

import { writeRaw } from "./write-raw.ts";

const sentence = "Cannot read request: this port speaks HTTPS: use https:// in the address";

/**
 * Replies 400 to clients that speak HTTP without TLS to a TLS server; OpenSSL recognises them by their first bytes.
 * `below` returns the TCP connection of a TLS socket whose handshake failed.
 */
export function refuseUnencryptedHttp(listener: Server, below: (during: Socket) => Socket | undefined): void {
  // The TLS socket is closed by the time of the error, so the reply is written to the connection below it.
  listener.on("tlsClientError", (err: Error, socket: TLSSocket) => {
    if (!("code" in err) || err.code !== "ERR_SSL_HTTP_REQUEST") return;
    const connection = below(socket);
    if (connection?.writable === true) writeRaw(connection, 400, sentence);
  });
}
