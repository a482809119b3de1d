import { ServerResponse, type IncomingMessage } from "node:http";
import { Socket } from "node:net";
import type { Duplex } from "node:stream";

import { joinSockets } from "../../process/join-sockets.ts";
import { endSocket } from "../client-error.ts";
import { functionPrefix } from "./split-target.ts";

/** Most bytes that a client may send ahead of the answer to its handshake before it is no longer read. */
const mostEarly = 65_536;

const switching = 101;

/** Where node:http keeps the response that is being written on a connection. */
type HttpSocket = Socket & { readonly _httpMessage?: ServerResponse | null };

/**
 * Whether the request is a WebSocket handshake to a function (`security.md` H8); any other upgrade is as none. One that
 * comes before earlier requests on its connection were answered cannot take the connection over either.
 */
export function isWebSocketHandshake(request: IncomingMessage): boolean {
  const { headers, socket }: { headers: IncomingMessage["headers"]; socket: HttpSocket } = request;
  return (
    request.method === "GET" &&
    request.httpVersion === "1.1" &&
    (request.url ?? "").startsWith(functionPrefix) &&
    headers.upgrade?.toLowerCase() === "websocket" &&
    headers["transfer-encoding"] === undefined &&
    Number(headers["content-length"] ?? 0) === 0 &&
    (socket._httpMessage ?? null) === null
  );
}

/**
 * The response to a WebSocket handshake, after node:http has let go of the connection. Until `join` it is a response as
 * any other, but the last one on its connection; it closes with the connection.
 */
export class UpgradeResponse extends ServerResponse {
  /** Bytes from the client after the 101. */
  bytesIn = 0;
  /** Bytes to the client after the 101. */
  bytesOut = 0;
  readonly #connection: Socket;
  #early: Buffer[] = [];
  #earlyBytes = 0;
  readonly #collect = (chunk: Buffer): void => {
    this.#early.push(chunk);
    this.#earlyBytes += chunk.byteLength;
    if (this.#earlyBytes > mostEarly) this.#connection.pause();
  };
  /** A client that ends its side before the answer has left. */
  readonly #leave = (): void => void this.#connection.destroy();

  constructor(request: IncomingMessage, head: Buffer) {
    super(request);
    const { socket } = request;
    this.#connection = socket;
    this.shouldKeepAlive = false;
    this.assignSocket(socket);
    socket.on("error", () => socket.destroy());
    socket.on("drain", () => this.emit("drain"));
    this.once("finish", () => {
      if (this.statusCode !== switching) endSocket(socket, "");
    });
    if (head.byteLength > 0) this.#collect(head);
    socket.on("data", this.#collect).once("end", this.#leave);
  }

  /**
   * Answers 101 with these headers (flat) and joins the client's connection with `peer`, until one of them closes or no
   * byte passes for `idle` milliseconds.
   * @throws TypeError when a header cannot be sent; then nothing was sent
   */
  join(headers: string[], peer: Duplex, idle: number): void {
    const socket = this.#connection;
    this.writeHead(switching, headers);
    this.end();
    socket.off("data", this.#collect).off("end", this.#leave);
    socket.on("data", (chunk: Buffer) => (this.bytesIn += chunk.byteLength)).pause();
    peer.on("data", (chunk: Buffer) => (this.bytesOut += chunk.byteLength)).pause();
    this.bytesIn = this.#earlyBytes;
    for (const chunk of this.#early) peer.write(chunk);
    this.#early = [];
    if (peer instanceof Socket) peer.setNoDelay(true);
    socket.setTimeout(idle, () => socket.destroy());
    joinSockets(socket, peer);
  }
}
