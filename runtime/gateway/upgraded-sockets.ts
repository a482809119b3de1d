import type { Server } from "node:http";
import type { Socket } from "node:net";

/** Connections that left HTTP: their servers wait for them when they close, but do not close them. */
export class UpgradedSockets {
  readonly #sockets = new Map<Socket, Server>();

  /** Remembers the connection until it is closed. */
  add(server: Server, socket: Socket): void {
    this.#sockets.set(socket, server);
    socket.once("close", () => this.#sockets.delete(socket));
  }

  /** Cuts the connections of this server, or all. */
  cut(server?: Server): void {
    for (const [socket, owner] of this.#sockets) {
      if (server === undefined || owner === server) socket.destroy();
    }
  }
}
