import { isDeepStrictEqual } from "node:util";

import { differenceOf, readAsNode, readAsWeir } from "../../../test/support/http1-streams.ts";
import { cutAtRandom } from "../../../test/support/read-answer.ts";
import { mustHold, type FuzzTarget } from "../fuzz-target.ts";

/**
 * Throws unless the bytes of a connection are the same requests however they are cut, and each accepted request is the
 * same for llhttp; also a second time, when heads are cached.
 */
export async function checkRequestStream(bytes: Uint8Array): Promise<void> {
  const weir = await readAsWeir([bytes]);
  const twice = [bytes, bytes];
  const difference =
    differenceOf(weir, await readAsNode([bytes])) ?? differenceOf(await readAsWeir(twice), await readAsNode(twice));
  mustHold(difference === undefined, difference ?? "");
  const cut = await readAsWeir(cutAtRandom(bytes, 200, bytes.length));
  const [whole, again] = [weir, cut].map(({ requests, refused }) => ({
    requests: requests.filter(({ complete }) => complete || !refused),
    refused,
  }));
  mustHold(isDeepStrictEqual(again, whole), `cut elsewhere they are others: ${JSON.stringify([weir, cut])}`);
}

const host = "Host: g\r\n";

export const requestStream: FuzzTarget = {
  name: "request-stream",
  promises: "requests are the same ones however they are cut, and each that is taken is the same one to llhttp",
  maxBytes: 1_500,
  words: [
    ..."GET POST PUT PATCH DELETE HEAD OPTIONS QUERY SOURCE CONNECT TRACE / /function/echo HTTP/1.1 HTTP/1.0 RTSP/1.0".split(
      " ",
    ),
    ..."Host Connection close keep-alive upgrade Upgrade Expect 100-continue TE trailers Trailer Proxy-Connection chunked".split(
      " ",
    ),
    ...'0 1 9 a f : ; = " , * http://g/'.split(" "),
    "Content-Length: 2",
    "Transfer-Encoding: chunked",
    "Transfer-Encoding: identity",
    "2\r\nab\r\n",
    "0\r\n\r\n",
    "\r\n",
    "\r\n\r\n",
    "\n",
    "\r",
    "\t",
    " ",
    ": ",
    "\x80",
    "\xff",
    "\x00",
    "\x7f",
  ],
  seeds: [
    `GET /function/echo/a?b HTTP/1.1\r\n${host}Accept: */*\r\n\r\n`,
    `POST /function/echo HTTP/1.1\r\n${host}Content-Length: 2\r\nConnection: keep-alive\r\n\r\nhiGET / HTTP/1.1\r\n${host}\r\n`,
    `POST /async-function/echo.dev HTTP/1.1\r\nhost:g\r\nX-A:\r\ncontent-length: 0\r\nX-B: \xe9 b\tc\r\n\r\n`,
    `POST / HTTP/1.1\r\n${host}Transfer-Encoding: chunked\r\n\r\n2;a=b;c="d"\r\nok\r\nA\r\n0123456789\r\n0\r\nX-Sum: 1\r\n\r\nGET / HTTP/1.1\r\n${host}\r\n`,
    `GET / HTTP/1.0\r\n${host}Connection: keep-alive\r\n\r\nHEAD / HTTP/1.1\r\n${host}Connection: close\r\n\r\nGET / HTTP/1.1\r\n${host}\r\n`,
    `POST / HTTP/1.1\r\n${host}Expect: 100-continue\r\nContent-Length: 3\r\n\r\nabcGET / HTTP/1.1\r\n${host}\r\n`,
    `GET / HTTP/1.1\r\n${host}Connection: Upgrade\r\nUpgrade: h2c\r\n\r\nGET / HTTP/1.1\r\n${host}\r\n`,
  ],
  run: checkRequestStream,
};
