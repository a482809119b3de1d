import { isDeepStrictEqual } from "node:util";

import type { ResponseHead } from "../../../runtime/http1/response-head.ts";
import { HeadCache } from "../../../runtime/http1/head-cache.ts";
import { bytesOfAnswer, cutAtRandom, readAnswer, readAsNode, type Asked } from "../../../test/support/read-answer.ts";
import { latin1, mustHold, type FuzzTarget } from "../fuzz-target.ts";

/** Longer ones are compared with each other only. */
const maxCompared = 600;

/**
 * Throws unless the bytes are the same response in one chunk, byte by byte, in other chunks and a second time, and an
 * accepted response is the same for node's own parser, which others rely on.
 */
export async function checkAnswer(bytes: Uint8Array, seed: number): Promise<void> {
  const memory = new HeadCache<ResponseHead>();
  const asks: readonly Asked[] = [{}, { headOnly: true }, { upgrade: "websocket" }, { ends: true }];
  for (const asked of asks) {
    const whole = readAnswer([bytes], { ...asked, memory });
    const again = readAnswer([bytes], { ...asked, memory });
    mustHold(isDeepStrictEqual(again, whole), `again it is another answer: ${JSON.stringify([whole, again])}`);
    for (const most of [1, 9, 90]) {
      const cut = readAnswer(cutAtRandom(bytes, most, seed), asked);
      mustHold(isDeepStrictEqual(cut, whole), `cut elsewhere it is another answer: ${JSON.stringify([whole, cut])}`);
    }
    if (whole.outcome !== "whole") continue;
    mustHold(whole.status >= 200 && whole.status <= 599, `status ${whole.status}`);
    if (bytes.length > maxCompared || asked.upgrade !== undefined) continue;
    // node reads on, and would refuse the bytes after a response.
    const answer = bytesOfAnswer(bytes, asked);
    const node = await readAsNode(answer, asked);
    const { status, headers, body } = whole;
    mustHold(node !== undefined, `node refuses ${JSON.stringify(latin1(answer))}`);
    const theirs = { ...node, headers: node.headers.map((text) => text.replace(/[ \t]+$/, "")) };
    mustHold(isDeepStrictEqual(theirs, { status, headers, body }), `node reads ${JSON.stringify(theirs)}`);
  }
}

export const answer: FuzzTarget = {
  name: "answer",
  promises:
    "an answer is one and the same however it is cut and how often it comes, and node's parser understands it alike",
  maxBytes: 2_048,
  words: [
    ..."HTTP/1.1 HTTP/1.0 200 204 304 103 100 101 OK Content-Length Transfer-Encoding chunked Connection close".split(
      " ",
    ),
    ..."keep-alive upgrade Upgrade websocket Keep-Alive timeout=5 0 2 a : ; = , 000a".split(" "),
    "\r\n",
    "\r\n\r\n",
    "0\r\n\r\n",
    "\t",
  ],
  seeds: [
    "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nX-A: \t b \r\n\r\nok",
    'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2;a=b;c="d"\r\nok\r\nA\r\n0123456789\r\n0\r\nX-Sum: 1\r\n\r\n',
    "HTTP/1.1 103 Early\r\nLink: a\r\n\r\nHTTP/1.1 204 No Content\r\nKeep-Alive: timeout=5\r\n\r\n",
    "HTTP/1.0 404 Not Found\r\nConnection: keep-alive\r\nContent-Type: text/plain\r\n\r\nuntil the end",
    "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n\x81\x02hi",
  ],
  run: (input) => checkAnswer(input, input.length),
};
