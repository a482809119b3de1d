import type { Socket } from "node:net";
import type { Server, TLSSocket } from "node:tls";

import { linkBelow, socketNames } from "./socket-below.ts";
import { writeRaw } from "./write-raw.ts";

const sentence = "Cannot read request: this port speaks HTTPS: use https:// in the address";

/** A TCP connection whose TLS handshake is not over. */
interface Handshake {
  readonly socket: Socket;
  /** When the connection was accepted, in milliseconds of `performance.now()`. */
  readonly since: number;
}

/**
 * The connections of a TLS server whose handshakes are not over. Node.js leaves a connection whose handshake failed to
 * whoever listens for `tlsClientError`: here each one is closed.
 */
export class TlsHandshakes {
  /** By the addresses of their two ends. */
  readonly #open = new Map<string, Handshake>();

  constructor(listener: Server) {
    listener.on("connection", (socket: Socket) => this.#begin(socket));
    listener.on("tlsClientError", (err: Error, tlsSocket: TLSSocket) => this.#fail(err, tlsSocket));
  }

  get size(): number {
    return this.#open.size;
  }

  /** A handshake is over. Returns when its connection was accepted. */
  end(tlsSocket: TLSSocket): number {
    const names = socketNames(tlsSocket);
    const handshake = this.#open.get(names);
    if (handshake === undefined) return performance.now();
    this.#open.delete(names);
    linkBelow(tlsSocket, handshake.socket);
    return handshake.since;
  }

  /** Closes those that were accepted before `time`. */
  closeBefore(time: number): void {
    for (const { socket, since } of this.#open.values()) if (since <= time) socket.destroy();
  }

  #begin(socket: Socket): void {
    // A client that was faster has no address any more.
    if (socket.remoteAddress === undefined) return void socket.destroy();
    const names = socketNames(socket);
    this.#open.set(names, { socket, since: performance.now() });
    socket.once("close", () => {
      if (this.#open.get(names)?.socket === socket) this.#open.delete(names);
    });
  }

  #fail(err: Error, tlsSocket: TLSSocket): void {
    const below = this.#open.get(socketNames(tlsSocket))?.socket;
    // OpenSSL recognises HTTP by its first bytes. The TLS socket is closed by now: the reply is written below it.
    const isHttp = "code" in err && err.code === "ERR_SSL_HTTP_REQUEST";
    if (isHttp && below?.writable === true) writeRaw(below, 400, sentence);
    tlsSocket.destroy();
  }
}
