import { Readable } from "node:stream";
import { constants, type ClientHttp2Stream, type OutgoingHttpHeaders } from "node:http2";

import { publicly, type PublicSentence } from "../../../api/public-sentence.ts";
import { socketPathOf, unixAuthority } from "../../../api/replica-address.ts";
import { MalformedReply } from "../../../core/calls/malformed-reply.ts";
import type { UpstreamCall, UpstreamListener, UpstreamRequest } from "../../../core/ports/upstream.ts";
import { joinHeaders } from "../../../core/headers/cached-headers.ts";
import { responseLimits } from "../../../http1/framing-rules.ts";
import type { H2cSession } from "./h2c-session.ts";

const statuses = { final: 200, last: 599 } as const;

/** One request to a replica over HTTP/2 and its response. */
export class H2cExchange implements UpstreamCall {
  readonly #pickSession: () => H2cSession;
  readonly #address: string;
  readonly #request: UpstreamRequest;
  readonly #listener: UpstreamListener;
  #stream: ClientHttp2Stream | undefined;
  #bodyStarted = false;
  #retried = false;
  #interimResponses = 0;
  #hasHead = false;
  /** Ended or aborted: the listener is not called any more. */
  #over = false;

  constructor(pickSession: () => H2cSession, address: string, request: UpstreamRequest, listener: UpstreamListener) {
    this.#pickSession = pickSession;
    this.#address = address;
    this.#request = request;
    this.#listener = listener;
    this.#begin();
  }

  resume(): void {
    this.#stream?.resume();
  }

  abort(): void {
    this.#over = true;
    if (this.#stream !== undefined) cancel(this.#stream);
  }

  #begin(): void {
    const { body, trailers } = this.#request;
    const session = this.#pickSession();
    try {
      const stream = session.request(headersOf(this.#address, this.#request), body === null);
      this.#stream = stream;
      this.#listen(session, stream);
      if (body === null) return;
      // Not before: a call that is retried at another replica needs its body unread.
      session.onConnected(() => {
        this.#bodyStarted = body instanceof Readable;
        sendBody(stream, body, trailers);
      });
    } catch (err) {
      queueMicrotask(() => this.#fail("refused", err instanceof Error ? err : new Error(String(err))));
    }
  }

  #listen(session: H2cSession, stream: ClientHttp2Stream): void {
    stream.on("headers", () => {
      this.#interimResponses += 1;
      if (this.#interimResponses > responseLimits.interim)
        this.#refuse(stream, publicly`more than ${responseLimits.interim} interim responses`);
    });
    stream.on("response", (headers, flags, rawHeaders) => {
      const status = headers[":status"] ?? 0;
      if (this.#over) return;
      if (status < statuses.final || status > statuses.last) {
        this.#refuse(stream, publicly`status ${status}`);
        return;
      }
      this.#hasHead = true;
      this.#listener.onHead(status, withoutPseudo(rawHeaders));
      // The head ends the stream, so the response ends with it: gRPC reports errors this way.
      if ((flags & constants.NGHTTP2_FLAG_END_STREAM) !== 0) this.#end();
    });
    stream.on("data", (chunk: Buffer) => {
      if (!this.#over && !this.#listener.onData(chunk)) stream.pause();
    });
    stream.on("trailers", (_headers, _flags, rawHeaders: string[]) => {
      if (!this.#over) this.#listener.onTrailers?.(withoutPseudo(rawHeaders));
    });
    stream.on("end", () => {
      if (this.#hasHead && !stream.aborted && stream.rstCode === constants.NGHTTP2_NO_ERROR) this.#end();
    });
    stream.on("error", (err) => this.#break(session, stream, err));
    stream.on("close", () => {
      const err = session.failure ?? new Error(`the stream was reset with code ${stream.rstCode ?? 0}`);
      this.#break(session, stream, err);
    });
  }

  #break(session: H2cSession, stream: ClientHttp2Stream, err: Error): void {
    if (stream !== this.#stream) return;
    const kind = kindOf(session, stream, err);
    const fault =
      kind === "malformed" ? new MalformedReply(publicly`its reply breaks the rules of HTTP/2`, { cause: err }) : err;
    // The replica was closing the connection and never saw the request: it is sent over a new one.
    const unseen = kind === "refused" && session.connected && !session.usable && !this.#hasHead && !this.#bodyStarted;
    if (!unseen || this.#retried || this.#over) {
      this.#fail(kind, fault);
      return;
    }
    this.#retried = true;
    this.#begin();
  }

  #end(): void {
    if (this.#over) return;
    this.#over = true;
    this.#listener.onEnd();
  }

  #fail(kind: "refused" | "reset" | "malformed", err: Error): void {
    if (this.#over) return;
    this.#over = true;
    this.#listener.onError(kind, err);
  }

  #refuse(stream: ClientHttp2Stream, reason: PublicSentence): void {
    this.#fail("malformed", new MalformedReply(publicly`its reply has ${reason}`));
    cancel(stream);
  }
}

function kindOf(
  session: H2cSession,
  stream: ClientHttp2Stream,
  err: NodeJS.ErrnoException,
): "refused" | "reset" | "malformed" {
  if (!session.connected || stream.rstCode === constants.NGHTTP2_REFUSED_STREAM) return "refused";
  const code = err.code ?? "";
  const broken = stream.rstCode === constants.NGHTTP2_PROTOCOL_ERROR || code === "ERR_HTTP2_ERROR";
  return broken || stream.rstCode === constants.NGHTTP2_ENHANCE_YOUR_CALM ? "malformed" : "reset";
}

/** Not by close(), which ends the stream first: a partly sent body would look complete. */
function cancel(stream: ClientHttp2Stream): void {
  stream.destroy(new Error("aborted by the caller"));
}

function headersOf(address: string, request: UpstreamRequest): OutgoingHttpHeaders {
  const { method, target, forward, wantsTrailers } = request;
  const headers = joinHeaders(forward, request.headers);
  const head: Record<string, string | string[]> = {
    ":method": method,
    ":path": target,
    ":scheme": "http",
    ":authority": socketPathOf(address) === undefined ? address : unixAuthority,
    ...(wantsTrailers === true && { te: "trailers" }),
  };
  for (let index = 0; index + 1 < headers.length; index += 2) {
    const name = (headers[index] ?? "").toLowerCase();
    const known = head[name];
    const value = headers[index + 1] ?? "";
    head[name] = known === undefined ? value : [known, value].flat();
  }
  return head;
}

function sendBody(stream: ClientHttp2Stream, body: Readable | Uint8Array, trailers: UpstreamRequest["trailers"]): void {
  if (stream.destroyed) return;
  stream.once("wantTrailers", () => {
    const list = trailers?.() ?? [];
    const sent: Record<string, string> = {};
    for (let index = 0; index + 1 < list.length; index += 2)
      sent[(list[index] ?? "").toLowerCase()] = list[index + 1] ?? "";
    stream.sendTrailers(sent);
  });
  if (!(body instanceof Readable)) {
    stream.end(body);
    return;
  }
  body.once("error", () => cancel(stream));
  stream.once("close", () => body.destroy());
  body.pipe(stream);
}

function withoutPseudo(rawHeaders: readonly string[]): string[] {
  const list: string[] = [];
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] ?? "";
    if (!name.startsWith(":")) list.push(name, rawHeaders[index + 1] ?? "");
  }
  return list;
}
