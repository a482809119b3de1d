import { Socket } from "node:net";
import type { Duplex } from "node:stream";

import { joinSockets } from "../../../process/join-sockets.ts";
import { Http1Response, type ResponseConnection } from "./http1-response.ts";

/** A connection that may be handed on. */
export interface HandedConnection extends ResponseConnection {
  /** Lets go of the socket, which is paused; gives what the client sent ahead. */
  handOver(): readonly Buffer[];
}

/** The response to a WebSocket handshake: as any other until `join`, and the last one on its connection. */
export class UpgradeResponse extends Http1Response {
  /** Bytes from the client after the 101. */
  bytesIn = 0;
  /** Bytes to the client after the 101. */
  bytesOut = 0;
  /** Whether it was closed because no byte passed for too long. */
  idled = false;
  readonly #connection: HandedConnection;

  constructor(connection: HandedConnection) {
    super(connection, { headOnly: false, old: false });
    this.#connection = connection;
    this.shouldKeepAlive = false;
  }

  /**
   * Answers 101 with these headers (flat) and joins the client's connection with `peer`, until one of them closes or no
   * byte passes for `idle` milliseconds.
   * @throws Error when a header cannot be sent; then nothing was sent
   */
  join(headers: readonly string[], peer: Duplex, idle: number): void {
    this.switchProtocols(headers);
    const { socket } = this.#connection;
    const early = this.#connection.handOver();
    socket.once("close", () => {
      this.destroyed = true;
      this.emit("close");
    });
    for (const chunk of early) {
      this.bytesIn += chunk.byteLength;
      peer.write(chunk);
    }
    socket.on("data", (chunk: Buffer) => (this.bytesIn += chunk.byteLength)).pause();
    peer.on("data", (chunk: Buffer) => (this.bytesOut += chunk.byteLength)).pause();
    if (peer instanceof Socket) peer.setNoDelay(true);
    socket.setTimeout(idle, () => {
      this.idled = true;
      socket.destroy();
    });
    joinSockets(socket, peer);
  }
}
