import { IncomingMessage } from "node:http";
import type { IncomingHttpHeaders, ServerHttp2Stream } from "node:http2";

import { PlatformError } from "../../../api/platform-error.ts";
import { Http2Socket } from "./http2-socket.ts";

/** Contract §1.6: bytes of names and values. */
const headLimit = 16_384;

/**
 * A request over HTTP/2 in the words of HTTP/1.1, so that the same rules read it: `:authority` is `Host`, cookies are
 * one header, and a body without length counts as chunked. Clients cannot send `Transfer-Encoding` themselves.
 */
export class Http2Request extends IncomingMessage {
  /** Bytes of the head as it was decoded. */
  readonly headBytes: number;
  /** Bytes of its body that came so far. */
  received = 0;
  readonly #stream: ServerHttp2Stream;

  constructor(stream: ServerHttp2Stream, headers: IncomingHttpHeaders, raw: readonly string[], hasBody: boolean) {
    super(new Http2Socket(stream));
    this.#stream = stream;
    this.httpVersion = "2.0";
    this.httpVersionMajor = 2;
    this.httpVersionMinor = 0;
    this.method = headers[":method"] ?? "";
    this.url = headers[":path"] ?? "";
    this.headBytes = raw.reduce((sum, text) => sum + text.length + 2, 0);
    const chunked = hasBody && headers["content-length"] === undefined;
    this.rawHeaders = rawHeadersOf(raw, chunked);
    const plain = Object.entries(headers).filter(([name]) => !name.startsWith(":"));
    this.headers = Object.fromEntries(plain);
    const authority = headers[":authority"];
    if (authority !== undefined) this.headers.host = authority;
    if (chunked) this.headers["transfer-encoding"] = "chunked";

    stream.on("data", (chunk: Buffer) => {
      this.received += chunk.byteLength;
      if (!this.push(chunk)) stream.pause();
    });
    stream.once("trailers", (_trailers, _flags, list: string[]) => {
      this.rawTrailers = list;
    });
    stream.once("end", () => {
      this.complete = !stream.aborted;
      if (this.complete) this.push(null);
    });
    stream.once("close", () => {
      if (!this.complete) this.destroy();
    });
    stream.pause();
  }

  /** Whether its body is waited for at the moment. */
  get awaited(): boolean {
    return this.readableFlowing === true;
  }

  override _read(): void {
    if (!this.#stream.destroyed) this.#stream.resume();
  }
}

/** @throws PlatformError for a head that is too large */
export function checkHttp2Head(request: Http2Request): void {
  if (request.headBytes > headLimit) {
    throw new PlatformError(
      "headers_too_large",
      `Cannot read request: its head of ${request.headBytes} bytes is over the limit of ${headLimit}`,
    );
  }
}

function rawHeadersOf(raw: readonly string[], chunked: boolean): string[] {
  const list: string[] = [];
  const cookies: string[] = [];
  let authority: string | undefined;
  for (let index = 0; index + 1 < raw.length; index += 2) {
    const name = raw[index] ?? "";
    const value = raw[index + 1] ?? "";
    if (name === ":authority") {
      authority = value;
      list.push("host", value);
    } else if (name === "cookie") cookies.push(value);
    // The same host twice is allowed (RFC 9113 §8.3.1); two that differ stay two, which is refused.
    else if (!name.startsWith(":") && !(name === "host" && value === authority)) list.push(name, value);
  }
  if (cookies.length > 0) list.push("cookie", cookies.join("; "));
  if (chunked) list.push("transfer-encoding", "chunked");
  return list;
}
