import type { ClientRequest, IncomingMessage, ServerResponse } from "node:http";
import { connect } from "node:net";
import type { Duplex } from "node:stream";

import { lasting, publicly } from "../../api/public-sentence.ts";
import { endToEndHeaders } from "../../core/headers/hop-by-hop.ts";
import { joinSockets } from "../../process/join-sockets.ts";
import { refuse } from "../function-handler.ts";
import { nodeHttp } from "../node-http.ts";

/** What the proxy depends on. */
export interface HttpProxyParts {
  readonly host: string;
  readonly port: number;
  /** Milliseconds; 0 = none. */
  readonly execTimeout: number;
  readonly log: (line: string) => void;
}

/** Milliseconds; shorter than servers keep idle connections, so that none is closed while a request is on its way. */
const idle = 1_000;

/** Proxies requests to the long-running process of mode `http`, streaming both ways with back-pressure. */
export class HttpProxy {
  readonly #parts: HttpProxyParts;
  readonly #agent = new nodeHttp.Agent({ keepAlive: true, timeout: idle });

  constructor(parts: HttpProxyParts) {
    this.#parts = parts;
  }

  handle(request: IncomingMessage, response: ServerResponse): void {
    const { execTimeout } = this.#parts;
    let upstream: ClientRequest | undefined;
    const limit = lasting(execTimeout);
    const timer =
      execTimeout === 0
        ? undefined
        : setTimeout(() => {
            this.#parts.log(`request cut after exec_timeout of ${String(limit)}`);
            refuse(
              response,
              504,
              publicly`Cannot complete the call: the process took longer than exec_timeout of ${limit}`,
            );
            upstream?.destroy();
          }, execTimeout);
    response.once("close", () => {
      clearTimeout(timer);
      upstream?.destroy();
    });
    const begin = (): void => {
      upstream = this.#send(request);
      upstream.once("response", (incoming) => passResponse(incoming, response));
      // It was not requested, and what follows is not HTTP any more.
      upstream.once("upgrade", (_incoming, peer) => {
        peer.destroy();
        refuse(
          response,
          502,
          publicly`Cannot read the response of the function's process: it switched protocols unasked`,
        );
      });
      upstream.once("error", (err: NodeJS.ErrnoException) => {
        if (response.writableEnded || response.destroyed) return;
        // The process closed a kept connection just then, or began and died: only safe requests are retried.
        const retry =
          upstream?.reusedSocket === true &&
          err.code === "ECONNRESET" &&
          repeatable.has(request.method ?? "") &&
          !hasBody(request) &&
          !response.headersSent;
        if (retry) begin();
        else {
          this.#parts.log(`cannot reach the process: ${err.message}`);
          refuse(response, 502, publicly`Cannot reach the function's process`);
        }
      });
      if (hasBody(request)) request.pipe(upstream);
      else upstream.end();
    };
    begin();
  }

  /** Joins the two connections once the process has agreed; any other response is passed on and ends the connection. */
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    const upstream = this.#send(request, ["Connection", "Upgrade", "Upgrade", request.headers.upgrade ?? ""]);
    socket.on("error", () => upstream.destroy());
    socket.once("close", () => upstream.destroy());
    upstream.once("error", () => socket.destroy());
    // Read from the start: only then is it noticed that a client leaves before the response.
    const early = [head];
    let bytes = head.byteLength;
    const collect = (chunk: Buffer): void => {
      early.push(chunk);
      bytes += chunk.byteLength;
      if (bytes >= maxEarly) socket.pause();
    };
    const onLeave = (): void => void socket.destroy();
    socket.on("data", collect).once("end", onLeave);
    upstream.once("upgrade", (incoming, peer, peerHead) => {
      socket.off("data", collect).off("end", onLeave).pause();
      socket.write(`${headOf(incoming)}\r\n`);
      socket.write(peerHead);
      for (const chunk of early) peer.write(chunk);
      joinSockets(socket, peer);
    });
    upstream.once("response", (incoming) => {
      socket.write(`${headOf(incoming)}Connection: close\r\n\r\n`);
      incoming.pipe(socket);
    });
    upstream.end();
  }

  /** Joins the two connections at once; `head` are the bytes that were already read. */
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
    // The framing stays: a length, transfer chunks, or no body.
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

/** Bytes read of a client before its upgrade is agreed to; beyond them, reading pauses until then. */
const maxEarly = 65_536;
/** Safe methods (RFC 9110 §9.2.1). */
const repeatable: ReadonlySet<string> = new Set(["GET", "HEAD", "OPTIONS"]);
const bodiless: ReadonlySet<string> = new Set(["GET", "HEAD", "OPTIONS", "DELETE", "TRACE"]);

function hasBody({ headers }: IncomingMessage): boolean {
  return headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0;
}

function passResponse(incoming: IncomingMessage, response: ServerResponse): void {
  if (response.writableEnded || response.destroyed) {
    incoming.destroy();
    return;
  }
  response.sendDate = false;
  response.writeHead(incoming.statusCode ?? 502, incoming.statusMessage, endToEndHeaders(incoming.rawHeaders));
  // Sends the head at once and byte for byte; `flushHeaders` would encode it as UTF-8.
  response.write(new Uint8Array(0));
  incoming.once("error", () => response.destroy());
  incoming.once("aborted", () => response.destroy());
  incoming.pipe(response);
}

function headOf(incoming: IncomingMessage): string {
  const lines = [`HTTP/1.1 ${incoming.statusCode ?? 502} ${incoming.statusMessage ?? ""}`];
  const upgraded = incoming.statusCode === 101;
  const headers = upgraded ? incoming.rawHeaders : endToEndHeaders(incoming.rawHeaders);
  for (let index = 0; index + 1 < headers.length; index += 2) lines.push(`${headers[index]}: ${headers[index + 1]}`);
  return `${lines.join("\r\n")}\r\n`;
}
