import { isDeepStrictEqual } from "node:util";

import { readPlainRequest } from "../../../runtime/gateway/fast-path/plain-head.ts";
import { readRequestAsNode } from "../../../test/support/read-request.ts";
import { latin1, mustHold, type FuzzTarget } from "../fuzz-target.ts";

/** Bytes that are added to a body that is not all there. */
const mostMissing = 100_000;

/** Throws unless the bytes are left to node:http, or node:http takes them for the very same request. */
export async function checkPlainRequest(bytes: Uint8Array): Promise<void> {
  const plain = readPlainRequest(Buffer.from(bytes));
  const again = readPlainRequest(Buffer.from(bytes), plain?.head);
  mustHold(isDeepStrictEqual(again, plain), "the second time it is another request");
  if (plain === undefined) return;
  const { method, target, rawHeaders, length } = plain.head;
  const { body } = plain;
  const missing = length - (body?.length ?? 0);
  // What node does not read to its end it cannot be compared with.
  if (missing > mostMissing) return;
  const whole = Buffer.concat([bytes, Buffer.alloc(missing, "x")]);
  const ours = {
    method,
    target,
    rawHeaders,
    body: `${latin1(body ?? new Uint8Array(0))}${"x".repeat(missing)}`,
    goesOn: true,
  };
  const theirs = await readRequestAsNode(whole);
  mustHold(isDeepStrictEqual(theirs, ours), `node reads ${JSON.stringify(theirs)}, not ${JSON.stringify(ours)}`);
}

export const plainRequest: FuzzTarget = {
  name: "plain-request",
  promises:
    "what takes the short way past node:http is to node:http one and the same request, on a connection that goes on",
  maxBytes: 1_024,
  words: [
    ..."GET POST PUT PATCH DELETE HEAD /function/echo /async-function/echo HTTP/1.1 HTTP/1.0 Host Connection close".split(
      " ",
    ),
    ..."keep-alive Keep-Alive upgrade Upgrade Expect 100-continue TE trailers Trailer Proxy-Connection chunked 0 1 9".split(
      " ",
    ),
    "Content-Length: 2",
    "Transfer-Encoding: chunked",
    "\r\n",
    "\r\n\r\n",
    "\n",
    "\t",
    " ",
    ": ",
    "\x80",
    "\xff",
    "\x00",
    "\x7f",
  ],
  seeds: [
    "GET /function/echo/a?b HTTP/1.1\r\nHost: g\r\nAccept: */*\r\n\r\n",
    "POST /function/echo HTTP/1.1\r\nHost: g\r\nContent-Length: 2\r\nConnection: keep-alive\r\n\r\nhi",
    "POST /async-function/echo.dev HTTP/1.1\r\nhost:g\r\nX-A:\r\ncontent-length: 0\r\nX-B: \xe9 b\tc\r\n\r\n",
    "DELETE /function/echo HTTP/1.1\r\nHost: g\r\nX-A: 1\r\nX-A: 2\r\nContent-Length: 1\r\n\r\nx",
  ],
  run: checkPlainRequest,
};
