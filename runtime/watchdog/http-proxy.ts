import type { ClientRequest, IncomingMessage, ServerResponse } from "node:http";
import { connect } from "node:net";
import type { Duplex } from "node:stream";

import { formatDuration } from "../api/duration.ts";
import { endToEndHeaders } from "../core/headers/hop-by-hop.ts";
import { joinSockets } from "../process/join-sockets.ts";
import { refuse } from "./function-handler.ts";
import { nodeHttp } from "./node-http.ts";

/** What proxying works with. */
export interface HttpProxyParts {
  readonly host: string;
  readonly port: number;
  /** Milliseconds; 0 = none. */
  readonly execTimeout: number;
  readonly log: (line: string) => void;
}

/** Shorter than what servers keep idle connections for, so that none is closed under a request. */
const idle = 1_000;

/** Hands requests to the long-running process of mode `http`, streaming both ways with back-pressure. */
export class HttpProxy {
  readonly #parts: HttpProxyParts;
  readonly #agent = new nodeHttp.Agent({ keepAlive: true, timeout: idle });

  constructor(parts: HttpProxyParts) {
    this.#parts = parts;
  }

  handle(request: IncomingMessage, response: ServerResponse): void {
    const { execTimeout } = this.#parts;
    let upstream: ClientRequest | undefined;
    const limit = formatDuration(execTimeout);
    const timer =
      execTimeout === 0
        ? undefined
        : setTimeout(() => {
            this.#parts.log(`request cut after exec_timeout of ${limit}`);
            refuse(response, 504, `Cannot complete the call: the process took longer than exec_timeout of ${limit}`);
            upstream?.destroy();
          }, execTimeout);
    response.once("close", () => {
      clearTimeout(timer);
      upstream?.destroy();
    });
    const begin = (): void => {
      upstream = this.#send(request);
      upstream.once("response", (answer) => passAnswer(answer, response));
      // Nobody asked for it: what follows is no HTTP any more.
      upstream.once("upgrade", (_answer, peer) => {
        peer.destroy();
        refuse(response, 502, "Cannot read the answer of the function's process: it switched protocols unasked");
      });
      upstream.once("error", (err: NodeJS.ErrnoException) => {
        if (response.writableEnded || response.destroyed) return;
        // The process closed a kept connection just then, or it began and died: only what may be done twice is repeated.
        const retry =
          upstream?.reusedSocket === true &&
          err.code === "ECONNRESET" &&
          repeatable.has(request.method ?? "") &&
          !hasBody(request) &&
          !response.headersSent;
        if (retry) begin();
        else refuse(response, 502, `Cannot reach the function's process: ${err.message}`);
      });
      if (hasBody(request)) request.pipe(upstream);
      else upstream.end();
    };
    begin();
  }

  /** Joins the two connections once the process has agreed; any other answer is passed on and ends the connection. */
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    const upstream = this.#send(request, ["Connection", "Upgrade", "Upgrade", request.headers.upgrade ?? ""]);
    socket.on("error", () => upstream.destroy());
    socket.once("close", () => upstream.destroy());
    upstream.once("error", () => socket.destroy());
    // Read from the beginning, as only who reads hears of a client that leaves before the answer.
    const early = [head];
    let bytes = head.byteLength;
    const collect = (chunk: Buffer): void => {
      early.push(chunk);
      bytes += chunk.byteLength;
      if (bytes >= mostEarly) socket.pause();
    };
    const leave = (): void => void socket.destroy();
    socket.on("data", collect).once("end", leave);
    upstream.once("upgrade", (answer, peer, peerHead) => {
      socket.off("data", collect).off("end", leave).pause();
      socket.write(`${headOf(answer)}\r\n`);
      socket.write(peerHead);
      for (const chunk of early) peer.write(chunk);
      joinSockets(socket, peer);
    });
    upstream.once("response", (answer) => {
      socket.write(`${headOf(answer)}Connection: close\r\n\r\n`);
      answer.pipe(socket);
    });
    upstream.end();
  }

  /** Joins the two connections at once; `head` are the bytes that came already. */
  tunnel(socket: Duplex, head: Buffer): void {
    const { host, port } = this.#parts;
    const peer = connect({ host, port });
    peer.write(head);
    joinSockets(socket, peer);
  }

  close(): void {
    this.#agent.destroy();
  }

  #send(request: IncomingMessage, extra: readonly string[] = []): ClientRequest {
    const { host, port } = this.#parts;
    const headers = [...endToEndHeaders(request.rawHeaders), ...extra];
    // Kept as it was: a length as it is, chunks as chunks, and nothing where there was nothing.
    if (request.headers["transfer-encoding"] !== undefined) headers.push("Transfer-Encoding", "chunked");
    else if (
      !hasBody(request) &&
      request.headers["content-length"] === undefined &&
      !bodiless.has(request.method ?? "")
    ) {
      headers.push("Content-Length", "0");
    }
    const agent = extra.length > 0 ? false : this.#agent;
    return nodeHttp.request({ host, port, agent, method: request.method, path: request.url, headers });
  }
}

/** Bytes of a client that sends before its upgrade was agreed to; then it is read no more until it is. */
const mostEarly = 65_536;
/** Safe methods (RFC 9110 §9.2.1). */
const repeatable: ReadonlySet<string> = new Set(["GET", "HEAD", "OPTIONS"]);
const bodiless: ReadonlySet<string> = new Set(["GET", "HEAD", "OPTIONS", "DELETE", "TRACE"]);

function hasBody({ headers }: IncomingMessage): boolean {
  return headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0;
}

function passAnswer(answer: IncomingMessage, response: ServerResponse): void {
  if (response.writableEnded || response.destroyed) {
    answer.destroy();
    return;
  }
  response.sendDate = false;
  response.writeHead(answer.statusCode ?? 502, answer.statusMessage, endToEndHeaders(answer.rawHeaders));
  // Sends the head at once and, unlike `flushHeaders`, byte for byte: that one makes UTF-8 of it.
  response.write(new Uint8Array(0));
  answer.once("error", () => response.destroy());
  answer.once("aborted", () => response.destroy());
  answer.pipe(response);
}

function headOf(answer: IncomingMessage): string {
  const lines = [`HTTP/1.1 ${answer.statusCode ?? 502} ${answer.statusMessage ?? ""}`];
  const upgraded = answer.statusCode === 101;
  const headers = upgraded ? answer.rawHeaders : endToEndHeaders(answer.rawHeaders);
  for (let index = 0; index + 1 < headers.length; index += 2) lines.push(`${headers[index]}: ${headers[index + 1]}`);
  return `${lines.join("\r\n")}\r\n`;
}
