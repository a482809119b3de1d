import type { IncomingHttpHeaders } from "node:http2";

import { PlatformError } from "../../../api/platform-error.ts";

/** Contract §1.6: bytes of names and values. */
const headLimit = 16_384;

/** The pseudo-headers and headers of a client of HTTP/2, in the form of HTTP/1.1. */
export interface Http2Head {
  readonly method: string;
  readonly url: string;
  /**
   * Flat, so that the same rules apply to them: `:authority` becomes `Host`, cookies become one header, and a body
   * without length counts as chunked. Clients cannot send `Transfer-Encoding` themselves.
   */
  readonly rawHeaders: readonly string[];
  /** Bytes of the decoded head. */
  readonly size: number;
}

/** Converts `raw`, the flat list of Node.js; `headers` are the same by name. */
export function http2Head(headers: IncomingHttpHeaders, raw: readonly string[], hasBody: boolean): Http2Head {
  const list: string[] = [];
  const cookies: string[] = [];
  let authority: string | undefined;
  let size = 0;
  for (let index = 0; index + 1 < raw.length; index += 2) {
    const name = raw[index] ?? "";
    const value = raw[index + 1] ?? "";
    size += name.length + value.length + 4;
    if (name === ":authority") {
      authority = value;
      list.push("host", value);
    } else if (name === "cookie") cookies.push(value);
    // The same host twice is allowed (RFC 9113 §8.3.1); two that differ stay two, which is refused.
    else if (!name.startsWith(":") && !(name === "host" && value === authority)) list.push(name, value);
  }
  if (cookies.length > 0) list.push("cookie", cookies.join("; "));
  if (hasBody && headers["content-length"] === undefined) list.push("transfer-encoding", "chunked");
  return { method: headers[":method"] ?? "", url: headers[":path"] ?? "", rawHeaders: list, size };
}

/** @throws PlatformError for a head that is too large */
export function checkHttp2Head({ size }: Http2Head): void {
  if (size > headLimit) {
    throw new PlatformError(
      "headers_too_large",
      `Cannot read request: its head of ${size} bytes is over the limit of ${headLimit}`,
    );
  }
}
