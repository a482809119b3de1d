import { Socket } from "node:net";
import type { Duplex } from "node:stream";

import { joinSockets } from "../../../process/sockets/join-sockets.ts";
import type { ClientUpgrade } from "../../calls/exchange.ts";
import type { ExchangeConnection, Http1Exchange } from "./http1-exchange.ts";

/** A connection that can be handed over to another protocol. */
export interface HandedConnection extends ExchangeConnection {
  /** Detaches from the socket and pauses it; returns the bytes that the client sent early. */
  handOver(): readonly Buffer[];
}

/** A WebSocket handshake: its exchange is like any other until `join`, and the last one on its connection. */
export class Http1Upgrade implements ClientUpgrade {
  bytesIn = 0;
  bytesOut = 0;
  idled = false;
  readonly #exchange: Http1Exchange;
  readonly #connection: HandedConnection;

  constructor(exchange: Http1Exchange, connection: HandedConnection) {
    this.#exchange = exchange;
    this.#connection = connection;
  }

  join(headers: readonly string[], peer: Duplex, idle: number): void {
    this.#exchange.switchProtocols(headers);
    const { socket } = this.#connection;
    const early = this.#connection.handOver();
    socket.once("close", () => this.#exchange.close());
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
