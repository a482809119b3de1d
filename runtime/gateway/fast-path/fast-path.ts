import type { Server } from "node:http";
import type { Socket } from "node:net";

import { PlainConnection, type ConnectionOwner } from "./plain-connection.ts";
import type { PlainRequest } from "./plain-request.ts";
import type { PlainResponse } from "./plain-response.ts";

/** Limits in milliseconds. */
export interface FastPathParts {
  /** False: the request is not for here; nothing was done with it. */
  readonly handle: (request: PlainRequest, response: PlainResponse) => boolean;
  /** Longest a new connection may wait with its first byte. */
  readonly headersTimeout: number;
  /** Longest a connection may rest between two requests. */
  readonly keepAlive: number;
  /** Longest a client may leave an answer unread. */
  readonly silence: number;
}

/** What node:http does with a new connection. */
type Serve = (this: Server, socket: Socket) => void;

/** Milliseconds that a connection is kept beyond what is said, for a request that is on its way. */
const margin = 1_000;
/** Milliseconds after which an idle connection keeps as little memory as it can. */
const restsAfter = 2_000;

/**
 * The short way of calls past node:http, which costs a call more than all that is ours: a connection of `server` is read
 * here for as long as nothing comes on it but whole calls in their plainest form, and is node:http's from the first byte
 * of anything else on.
 */
export class FastPath implements ConnectionOwner {
  readonly goesOn: string;
  readonly #parts: FastPathParts;
  readonly #server: Server;
  readonly #serve: Serve;
  readonly #connections = new Set<PlainConnection>();
  #timer: NodeJS.Timeout | undefined;

  /** Stands before what `server` does with its connections, and is closed with it. */
  constructor(server: Server, parts: FastPathParts) {
    this.#parts = parts;
    this.#server = server;
    this.goesOn = `Connection: keep-alive\r\nKeep-Alive: timeout=${Math.floor(parts.keepAlive / 1_000)}\r\n`;
    const [serve, ...others] = server.listeners("connection");
    if (serve === undefined || others.length > 0) throw new Error("node:http listens to connections otherwise");
    this.#serve = serve;
    server.removeAllListeners("connection");
    server.on("connection", (socket: Socket) => this.#take(socket));
  }

  handle(request: PlainRequest, response: PlainResponse): boolean {
    return this.#parts.handle(request, response);
  }

  handOver(connection: PlainConnection, bytes: Buffer): void {
    this.#connections.delete(connection);
    const socket = connection.release();
    socket.unshift(bytes);
    this.#serve.call(this.#server, socket);
    socket.resume();
  }

  onClosed(connection: PlainConnection): void {
    this.#connections.delete(connection);
  }

  /** Closes the connections on which no request is under way. */
  closeIdle(): void {
    for (const connection of this.#connections) if (!connection.busy) connection.socket.destroy();
  }

  closeAll(): void {
    for (const connection of this.#connections) connection.socket.destroy();
  }

  #take(socket: Socket): void {
    this.#connections.add(new PlainConnection(socket, this));
    const period = Math.min(1_000, this.#parts.headersTimeout);
    this.#timer ??= setInterval(() => this.#sweep(), period).unref();
  }

  #sweep(): void {
    if (this.#connections.size === 0) {
      clearInterval(this.#timer);
      this.#timer = undefined;
      return;
    }
    const now = performance.now();
    for (const connection of this.#connections) {
      if (connection.busy) continue;
      const { socket } = connection;
      const idle = now - connection.since;
      if (idle >= restsAfter) connection.rest();
      const longest = connection.fresh
        ? this.#parts.headersTimeout
        : socket.writableLength > 0
          ? this.#parts.silence
          : this.#parts.keepAlive + margin;
      if (idle >= longest) socket.destroy();
    }
  }
}
