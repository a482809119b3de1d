/** Requests that are not well-formed HTTP/1.1, or break a rule of framing; `T` stands for the target. */
export const malformedRequests: readonly (readonly [name: string, bytes: string])[] = [
  [
    "length and chunked",
    "POST T HTTP/1.1\r\nHost: g\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
  ],
  ["another coding", "POST T HTTP/1.1\r\nHost: g\r\nTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\n"],
  ["identity before chunked", "POST T HTTP/1.1\r\nHost: g\r\nTransfer-Encoding: identity, chunked\r\n\r\n0\r\n\r\n"],
  [
    "chunked in two headers",
    "POST T HTTP/1.1\r\nHost: g\r\nTransfer-Encoding: identity\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
  ],
  ["space before the colon", "POST T HTTP/1.1\r\nHost: g\r\nContent-Length : 3\r\n\r\nabc"],
  ["two lengths", "POST T HTTP/1.1\r\nHost: g\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabcd"],
  ["two equal lengths", "POST T HTTP/1.1\r\nHost: g\r\nContent-Length: 3\r\nContent-Length: 3\r\n\r\nabc"],
  ["list of lengths", "POST T HTTP/1.1\r\nHost: g\r\nContent-Length: 3, 3\r\n\r\nabc"],
  ["length -1", "POST T HTTP/1.1\r\nHost: g\r\nContent-Length: -1\r\n\r\n"],
  ["length +1", "POST T HTTP/1.1\r\nHost: g\r\nContent-Length: +1\r\n\r\na"],
  ["bare LF", "GET T HTTP/1.1\nHost: g\n\n"],
  ["bare LF after a value", "GET T HTTP/1.1\r\nHost: g\r\nX-A: 1\nX-B: 2\r\n\r\n"],
  ["NUL in a value", "GET T HTTP/1.1\r\nHost: g\r\nX-A: 1\0\r\n\r\n"],
  ["lone CR in a value", "GET T HTTP/1.1\r\nHost: g\r\nX-A: 1\r2\r\n\r\n"],
  ["folded header", "GET T HTTP/1.1\r\nHost: g\r\nX-A: 1\r\n 2\r\n\r\n"],
  ["no Host", "GET T HTTP/1.1\r\nX-A: 1\r\n\r\n"],
  ["two Host", "GET T HTTP/1.1\r\nHost: g\r\nHost: g\r\n\r\n"],
  ["two Authorization", "GET T HTTP/1.1\r\nHost: g\r\nAuthorization: Basic a\r\nAuthorization: Basic b\r\n\r\n"],
  ["two X-Call-Id", "GET T HTTP/1.1\r\nHost: g\r\nX-Call-Id: a\r\nx-call-id: b\r\n\r\n"],
  ["two X-Callback-Url", "GET T HTTP/1.1\r\nHost: g\r\nX-Callback-Url: a\r\nX-Callback-Url: b\r\n\r\n"],
  [
    "Connection names Content-Length",
    "POST T HTTP/1.1\r\nHost: g\r\nConnection: content-length\r\nContent-Length: 1\r\n\r\na",
  ],
  ["absolute target", "GET http://elsewhereT HTTP/1.1\r\nHost: g\r\n\r\n"],
  ["fragment in the target", "GET T#x HTTP/1.1\r\nHost: g\r\n\r\n"],
  ["space in the target", "GET T x HTTP/1.1\r\nHost: g\r\n\r\n"],
  ["byte above ASCII in the target", "GET T/\xe9 HTTP/1.1\r\nHost: g\r\n\r\n"],
  ["asterisk target", "OPTIONS * HTTP/1.1\r\nHost: g\r\n\r\n"],
  ["made-up method", "FROBNICATE T HTTP/1.1\r\nHost: g\r\n\r\n"],
  ["no HTTP at all", "\x16\x03\x01hello\r\n\r\n"],
  ["HTTP/3.0", "GET T HTTP/3.0\r\nHost: g\r\n\r\n"],
  ["HTTP/2.0 by its version alone", "GET T HTTP/2.0\r\nHost: g\r\n\r\n"],
  ["HTTP/0.9", "GET T HTTP/0.9\r\nHost: g\r\n\r\n"],
  ["chunked in HTTP/1.0", "POST T HTTP/1.0\r\nHost: g\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"],
];

/** Bodies whose chunks are malformed. */
export const malformedChunks: readonly (readonly [name: string, bytes: string])[] = [
  ["chunk size 0x1", "0x1\r\na\r\n0\r\n\r\n"],
  ["chunk without its end", "1\r\nab\r\n0\r\n\r\n"],
  ["chunk extensions over 16 KiB", `1;${"a".repeat(17_000)}\r\na\r\n0\r\n\r\n`],
];

/** Well-formed requests to `route` that are refused with a status, after which their connection ends. */
export function refusedRequests(route: string): readonly (readonly [name: string, status: number, bytes: string])[] {
  return [
    ["TRACE", 405, `TRACE ${route} HTTP/1.1\r\nHost: g\r\n\r\n`],
    ["CONNECT", 405, "CONNECT g:443 HTTP/1.1\r\nHost: g:443\r\n\r\n"],
    ["101 headers", 431, `GET ${route} HTTP/1.1\r\nHost: g\r\n${"X-A: 1\r\n".repeat(100)}\r\n`],
    ["a head of 17 KiB", 431, `GET ${route} HTTP/1.1\r\nHost: g\r\nX-A: ${"a".repeat(17_000)}\r\n\r\n`],
    ["a target of 8193 bytes", 414, `GET ${route}?${"a".repeat(8_192 - route.length)} HTTP/1.1\r\nHost: g\r\n\r\n`],
    ["Expect: 200-ok", 417, `GET ${route} HTTP/1.1\r\nHost: g\r\nExpect: 200-ok\r\n\r\n`],
  ];
}

/** The request with `target` in place of its `T`. */
export function withTarget(bytes: string, target: string): string {
  return bytes.replaceAll("T ", `${target} `).replaceAll("T/", `${target}/`).replaceAll("T#", `${target}#`);
}
