import { createServer } from "node:http";
import type { Socket } from "node:net";
import { Duplex } from "node:stream";

import type { RequestText } from "../../runtime/http1/request-text.ts";
import { Http1Connection, type Http1Owner } from "../../runtime/gateway/edge/http1/http1-connection.ts";
import { understandRequest } from "../../runtime/gateway/edge/http1/understand-request.ts";
import { createHeadReader } from "../../runtime/gateway/edge/head-reader.ts";

/** A request as a server reads it, complete or in part; one character per byte. */
export interface StreamRequest {
  readonly method: string;
  readonly target: string;
  readonly rawHeaders: readonly string[];
  body: string;
  complete: boolean;
}

/** How a server reads the bytes of one connection. */
export interface StreamReading {
  /** In order; the last one may be incomplete. */
  readonly requests: StreamRequest[];
  /** Whether it refused what follows them. */
  refused: boolean;
}

/** The server's socket of a connection in memory. */
class Wire extends Duplex {
  readonly remoteAddress = "192.0.2.1";
  /** The responses so far. */
  written = "";

  constructor() {
    super({ allowHalfOpen: true });
  }

  override _read(): void {}

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    this.written += chunk.toString("latin1");
    done();
  }

  destroySoon(): void {
    if (this.writableFinished) this.destroy();
    else this.end(() => this.destroy());
  }
}

const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** How the gateway's own connection reads these chunks; each request gets a response once it is complete. */
export async function readAsWeir(chunks: readonly Uint8Array[]): Promise<StreamReading> {
  const reading: StreamReading = { requests: [], refused: false };
  const wire = new Wire();
  const readHead = createHeadReader({});
  const owner: Http1Owner = {
    goesOn: "Connection: keep-alive\r\n",
    understand: (text: RequestText, address) => understandRequest(text, address, false, readHead),
    serve: (exchange) => {
      const { method, url: target, rawHeaders, body } = exchange;
      const seen: StreamRequest = { method, target, rawHeaders, body: "", complete: false };
      reading.requests.push(seen);
      const end = (): void => {
        seen.complete = true;
        exchange.writeHead(200, { "Content-Length": "0" }).end();
      };
      if (body === undefined) end();
      else if (body instanceof Uint8Array) {
        seen.body = body.toString("latin1");
        end();
      } else body.on("data", (chunk: Buffer) => (seen.body += chunk.toString("latin1"))).on("end", end);
    },
    refuse: (exchange) => {
      exchange.writeHead(400, { "Content-Length": "0" }).end();
    },
    onMalformed: () => {},
    onHandedOver: () => {},
    onClosed: () => {},
  };
  const connection = new Http1Connection(wire as unknown as Socket, owner, performance.now());
  for (const chunk of chunks) {
    // A connection that has ended discards further bytes.
    if (wire.destroyed) break;
    wire.push(Buffer.from(chunk));
    await nextTurn();
  }
  await nextTurn();
  reading.refused = / [45]\d\d .*\r\n[^]*$/.test(wire.written);
  connection.socket.destroy();
  await nextTurn();
  return reading;
}

/** How node:http, whose parser is llhttp, reads these chunks. */
export async function readAsNode(chunks: readonly Uint8Array[]): Promise<StreamReading> {
  const reading: StreamReading = { requests: [], refused: false };
  const wire = new Wire();
  const server = createServer({ requireHostHeader: false }, (request, response) => {
    const { method = "", url: target = "", rawHeaders } = request;
    const seen: StreamRequest = {
      method,
      target,
      rawHeaders: rawHeaders.map((text) => text.replace(/[ \t]+$/, "")),
      body: "",
      complete: false,
    };
    reading.requests.push(seen);
    request.on("data", (chunk: Buffer) => (seen.body += chunk.toString("latin1")));
    request.on("error", () => {});
    request.on("end", () => {
      seen.complete = true;
      // Without a length, node closes an HTTP/1.0 connection even if keep-alive was agreed on.
      response.writeHead(200, { "Content-Length": "0" }).end();
    });
  });
  server.maxHeadersCount = 0;
  const refuse = (): void => void (reading.refused = true);
  server.on("clientError", refuse).on("connect", refuse);
  server.emit("connection", wire);
  for (const chunk of chunks) {
    if (wire.destroyed) break;
    wire.push(Buffer.from(chunk));
    await nextTurn();
  }
  await nextTurn();
  await nextTurn();
  wire.destroy();
  await nextTurn();
  return reading;
}

/**
 * How Weir's reading differs from node's: a request that Weir accepts and that node does not, or reads differently.
 * That Weir refuses more is no difference (`security.md` H1 to H12).
 */
export function differenceOf(weir: StreamReading, node: StreamReading): string | undefined {
  for (const [index, ours] of weir.requests.entries()) {
    const theirs = node.requests[index];
    if (theirs === undefined) return `request ${index} is none to node: ${JSON.stringify(ours)}`;
    const isLast = index === weir.requests.length - 1;
    if (!isSame(ours, theirs, weir.refused && isLast))
      return `request ${index} is another one to node: ${JSON.stringify([ours, theirs])}`;
  }
  return undefined;
}

/** `mayBeCut`: Weir's request may be incomplete because Weir refused the rest. */
function isSame(ours: StreamRequest, theirs: StreamRequest, mayBeCut: boolean): boolean {
  const sameHead =
    ours.method === theirs.method &&
    ours.target === theirs.target &&
    ours.rawHeaders.length === theirs.rawHeaders.length &&
    ours.rawHeaders.every((text, at) => text === theirs.rawHeaders[at]);
  if (!sameHead) return false;
  if (ours.complete) return theirs.complete && ours.body === theirs.body;
  return (mayBeCut || !theirs.complete) && (theirs.body.startsWith(ours.body) || ours.body.startsWith(theirs.body));
}
