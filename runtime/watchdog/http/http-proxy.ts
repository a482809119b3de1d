import type { IncomingMessage, ServerResponse } from "node:http";
import { connect, isIPv6 } from "node:net";
import type { Duplex } from "node:stream";

import { lasting, publicly } from "../../api/public-sentence.ts";
import { connectionOptions } from "../../api/http-grammar.ts";
import { withoutHeaders } from "../../core/headers/header-list.ts";
import { endToEndHeaders } from "../../core/headers/hop-by-hop.ts";
import type { UpstreamCall, UpstreamRequest } from "../../core/ports/upstream.ts";
import { RawUpstream } from "../../http1/client/raw-upstream.ts";
import { joinSockets } from "../../process/sockets/join-sockets.ts";
import { refuse } from "../function-handler.ts";
import { ReplyPass } from "./pass-reply.ts";
import { passUpgrade } from "./pass-upgrade.ts";
import { hasBody, bufferRequestBody, RequestBody } from "./request-body.ts";

/** What the proxy depends on. */
export interface HttpProxyParts {
  readonly host: string;
  readonly port: number;
  /** Milliseconds; 0 = none. */
  readonly execTimeout: number;
  /** Whether the process gets a length with each body, never transfer chunks. */
  readonly bufferBody: boolean;
  readonly log: (line: string) => void;
}

/** Milliseconds; shorter than servers keep idle connections, so that none is closed while a request is on its way. */
const idleTime = 1_000;
/** Milliseconds; a process whose accept queue is full is slow, and not away. */
const connectTimeout = 30_000;
/**
 * A connection is closed after a reply without body, which a process may send a little later: it may serve one
 * connection at a time, and would wait for a request on the one that rests.
 */
const restTime = 0;
/** Most bytes of a body that is read before it is sent. */
const longestBuffered = 33_554_432;
/** Headers that the client of the process writes itself. */
const ownHeaders: ReadonlySet<string> = new Set(["host", "expect"]);

/** Proxies requests to the long-running process of mode `http`, streaming both ways with back-pressure. */
export class HttpProxy {
  readonly #parts: HttpProxyParts;
  readonly #address: string;
  readonly #upstream = new RawUpstream({ connectTimeout, idleTime, restTime });

  constructor(parts: HttpProxyParts) {
    this.#parts = parts;
    const { host, port } = parts;
    this.#address = `${isIPv6(host) ? `[${host}]` : host}:${port}`;
  }

  handle(request: IncomingMessage, response: ServerResponse): void {
    const { execTimeout, bufferBody } = this.#parts;
    let call: UpstreamCall | undefined;
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
            call?.abort();
          }, execTimeout);
    response.once("close", () => {
      clearTimeout(timer);
      call?.abort();
    });
    const send = (body: UpstreamRequest["body"]): void => {
      if (response.writableEnded || response.destroyed) return;
      const expectsContinue = request.headers.expect !== undefined && request.httpVersionMinor > 0;
      const wantsTrailers = connectionOptions(String(request.headers.te ?? "")).includes("trailers");
      const outgoing = { ...requestOf(request, body), expectsContinue, wantsTrailers };
      call = this.#upstream.dispatch(
        this.#address,
        outgoing,
        new ReplyPass(response, () => call?.resume(), this.#parts.log),
      );
    };
    if (!hasBody(request)) send(null);
    else if (!bufferBody || request.headers["content-length"] !== undefined) send(new RequestBody(request));
    else {
      if (request.headers.expect !== undefined && request.httpVersionMinor > 0) response.writeContinue();
      bufferRequestBody(request, longestBuffered).then(
        (body) => {
          if (body !== undefined) return send(body);
          const mebibytes = longestBuffered / 1_048_576;
          refuse(
            response,
            413,
            publicly`Cannot take the call: its body is over ${mebibytes} MiB, which is the limit of http_buffer_req_body`,
          );
        },
        () => response.destroy(),
      );
    }
  }

  /** Joins the two connections once the process has agreed; any other response is passed on and ends the connection. */
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    const outgoing = { ...requestOf(request, null), upgrade: request.headers.upgrade?.toLowerCase() ?? "" };
    passUpgrade((listener) => this.#upstream.dispatch(this.#address, outgoing, listener), socket, head);
  }

  /** Joins the two connections at once; `head` are the bytes that were already read. */
  tunnel(socket: Duplex, head: Buffer): void {
    const { host, port } = this.#parts;
    const peer = connect({ host, port });
    peer.write(head);
    joinSockets(socket, peer);
  }

  close(): void {
    void this.#upstream.close();
  }
}

function requestOf(request: IncomingMessage, body: UpstreamRequest["body"]): UpstreamRequest {
  const headers = withoutHeaders(endToEndHeaders(request.rawHeaders), ownHeaders);
  return {
    method: request.method ?? "",
    target: request.url ?? "",
    host: request.headers.host,
    headers: body === null ? withoutHeaders(headers, lengthOnly) : headers,
    body,
  };
}

const lengthOnly: ReadonlySet<string> = new Set(["content-length"]);
