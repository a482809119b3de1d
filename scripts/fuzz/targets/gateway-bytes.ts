import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { setImmediate as turn } from "node:timers/promises";

import type { HandleCall } from "../../../runtime/gateway/calls/sync/sync-invoker.ts";
import { openFunctionServer, type FunctionServer } from "../../../test/support/function-server.ts";
import { openMemoryAsyncInvoker } from "../../../test/support/memory-async-invoker.ts";
import { parseReplies, type RawReply } from "../../../test/support/raw-client.ts";
import { openSyncGateway, type SyncGateway } from "../../../test/support/sync-gateway.ts";
import { latin1, mustHold, type FuzzTarget } from "../fuzz-target.ts";
import { readRequests, type ModelReading, type ModelRequest } from "../http-model.ts";
import { below, seededRandom } from "../../random.ts";

/** The gateway's limits, shortened from 10 and 30 s so that slow clients can be tested; milliseconds. */
const headersTimeout = 1_000;
const bodyIdleTimeout = 1_000;
/** Longest wait for all responses and the end of a connection. */
const timeout = 9_000;
/** Runs after which calls queued in memory are dropped. */
const callsKept = 500;
const route = "/function/echo";

let gateway: SyncGateway | undefined;
let echo: FunctionServer | undefined;
let invokeAsync: HandleCall | undefined;
let runs = 0;
/** Requests that the function may see: of this run, and of some before, whose connections may have ended early. */
let expected: ModelRequest[] = [];

async function open(): Promise<() => Promise<void>> {
  const server = await openFunctionServer((request, response, body) => {
    response.end(`${request.method} ${request.url} ${body}`, "latin1");
  });
  const opened = await openSyncGateway({
    invokeAsync: (...call) => invokeAsync?.(...call),
    server: { headersTimeout, bodyIdleTimeout },
  });
  opened.deploy("echo", { addresses: [server.address] });
  invokeAsync = openMemoryAsyncInvoker(opened.table);
  [gateway, echo] = [opened, server];
  return async () => {
    await opened.close();
    await server.close();
  };
}

async function run(input: Uint8Array): Promise<void> {
  if (gateway === undefined || echo === undefined) throw new Error("not open");
  runs += 1;
  if (runs % callsKept === 0) invokeAsync = openMemoryAsyncInvoker(gateway.table);
  const model = readRequests(latin1(input));
  expected = [...expected.slice(-200), ...model.requests];
  const { replies, ended, text } = await converse(gateway.port, input, model);
  checkReplies(model, replies, text);
  mustHold(ended, "the connection is not closed");
  for (const seen of echo.requests.splice(0)) {
    const isExpected = expected.some(
      (each) =>
        !each.refused && each.method === seen.method && forwarded(each) === seen.target && each.body === seen.body,
    );
    mustHold(
      isExpected,
      `the function saw ${JSON.stringify([seen.method, seen.target, seen.body])}, which nobody sent`,
    );
  }
}

/** Sends the input in up to three chunks, waits for as many responses as the model expects, then for the end. */
async function converse(port: number, input: Uint8Array, model: ModelReading) {
  const rest = latin1(input).slice(model.restAt);
  const [restMethod = ""] = /^[A-Z-]*/.exec(rest.trimStart()) ?? [];
  const methods = [...model.requests.map(({ method }) => method), restMethod];
  const socket = connect({ port, host: "127.0.0.1", noDelay: true, allowHalfOpen: true });
  const deadline = performance.now() + timeout;
  let text = "";
  let ended = false;
  socket.on("data", (chunk: Buffer) => (text += chunk.toString("latin1")));
  socket
    .on("end", () => (ended = true))
    .on("close", () => (ended = true))
    .on("error", () => {});
  try {
    await once(socket, "connect");
    const random = seededRandom(input.length);
    const cuts = [0, below(random, input.length + 1), below(random, input.length + 1), input.length].sort(
      (a, b) => a - b,
    );
    for (let index = 1; index < cuts.length; index += 1) {
      socket.write(input.subarray(cuts[index - 1], cuts[index]));
      await turn();
    }
    const count = model.requests.length;
    // Closing our side ends the connection, so it waits for the responses. The gateway may wait for the rest of a bad
    // head.
    const isWhole = model.rest === "nothing" && model.requests.at(-1)?.last !== true;
    const isOpen = model.rest === "bad-head" && !rest.includes("\r\n\r\n");
    const mayEnd = isWhole || isOpen || model.rest === "part" || model.rest === "unsure";
    const awaited = isWhole ? count : Math.min(1, count);
    if (mayEnd) {
      await until(socket, deadline, () => ended || parseReplies(text, ended, methods).length >= awaited);
      socket.end();
    }
    await until(socket, deadline, () => ended);
    return { replies: parseReplies(text, ended, methods), ended, text };
  } finally {
    socket.destroy();
  }
}

function until(socket: Socket, deadline: number, condition: () => boolean): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      socket.off("data", look).off("end", look).off("close", look);
      resolve();
    };
    const look = (): void => {
      if (condition()) done();
    };
    const timer = setTimeout(done, deadline - performance.now());
    socket.on("data", look).on("end", look).on("close", look);
    look();
  });
}

function checkReplies({ requests, rest }: ModelReading, replies: readonly RawReply[], text: string): void {
  const counts = `${replies.length} answers to ${requests.length} requests and ${rest}: ${JSON.stringify(text.slice(0, 500))}`;
  if (rest !== "unsure")
    mustHold(
      replies.length <= requests.length + (rest === "nothing" || rest === "ignored" ? 0 : 1),
      `Too many: ${counts}`,
    );
  for (const [index, reply] of replies.entries()) {
    mustHold(reply.status < 500 || reply.status === 501, `Answer ${index} is ${reply.status}: ${reply.body}`);
    const request = requests[index];
    if (request === undefined) {
      if (rest === "bad-head") mustHold(reply.status >= 400 && isClosing(reply), `No error for ${rest}: ${counts}`);
    } else if (request.refused) {
      mustHold(reply.status >= 400 && isClosing(reply), `Not refused: ${counts}`);
    } else if (isEcho(request) && reply.status === 200) {
      const body = request.method === "HEAD" ? "" : `${request.method} ${forwarded(request)} ${request.body}`;
      mustHold(reply.body === body, `Answer ${index} is another one's: ${counts}`);
    }
    if (isClosing(reply)) mustHold(index === replies.length - 1, `Answered after the end: ${counts}`);
  }
  // After a fault, earlier requests may get no response; without one, all must.
  const isCut = rest !== "nothing" || replies.some(isClosing);
  const fewest = requests.at(-1)?.refused === true ? Math.min(1, requests.length) : requests.length;
  if (!isCut) mustHold(replies.length >= fewest, `Too few: ${counts}`);
  if (rest === "bad-head") mustHold(replies.length > 0, `No answer: ${counts}`);
}

function isClosing(reply: RawReply): boolean {
  return reply.headers["connection"] === "close";
}

function isEcho({ target }: ModelRequest): boolean {
  return target === route || target.startsWith(`${route}/`) || target.startsWith(`${route}?`);
}

/** The target as the function gets it. */
function forwarded({ target }: ModelRequest): string {
  const rest = target.slice(route.length);
  return rest.startsWith("/") ? rest : `/${rest}`;
}

const host = "Host: g\r\n";
const get = `GET ${route} HTTP/1.1\r\n${host}\r\n`;
const post = `POST ${route}/a?b HTTP/1.1\r\n${host}Content-Length: 3\r\n\r\nabc`;
const chunked = `POST ${route} HTTP/1.1\r\n${host}Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n`;

export const gatewayBytes: FuzzTarget = {
  name: "gateway-bytes",
  promises:
    "any bytes: no crash, no hang, as many requests as a strict reading counts, one answer each, in order, then the end",
  maxBytes: 6_000,
  words: [
    "\r\n",
    "\n",
    "\r",
    "\r\n\r\n",
    "\t",
    " ",
    "\0",
    ":",
    ",",
    ";a=b",
    "0\r\n\r\n",
    "3\r\nabc\r\n",
    "HTTP/1.1",
    "HTTP/1.0",
    "HTTP/2.0",
    "HTTP/0.9",
    "Content-Length: 3\r\n",
    "Content-Length: 0\r\n",
    "Content-Length: +3\r\n",
    "Content_Length: 3\r\n",
    "Transfer-Encoding: chunked\r\n",
    "Transfer-Encoding: identity\r\n",
    "Transfer-Encoding:\x0bchunked\r\n",
    "Connection: close\r\n",
    "Connection: keep-alive\r\n",
    "Connection: X-Call-Id\r\n",
    "Connection: upgrade\r\nUpgrade: websocket\r\n",
    "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\n",
    "Expect: 100-continue\r\n",
    "X-Call-Id: 0af76519-16cd-43dd-8448-eb211c80319c\r\n",
    "X-Callback-Url: http://127.0.0.1:1/\r\n",
    "Trailer: X\r\n",
    host,
    "/async-function/echo",
    "/system/info",
    "/function/none",
    "http://g/",
    "HEAD",
    "TRACE",
    "CONNECT",
    "OPTIONS",
    "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    get,
    post,
    chunked,
  ],
  seeds: [
    get,
    post,
    chunked,
    get + post + chunked + get,
    `HEAD ${route} HTTP/1.1\r\n${host}\r\n${get}`,
    `POST /async-function/echo HTTP/1.1\r\n${host}Content-Length: 3\r\n\r\nabc${get}`,
    `GET /system/info HTTP/1.0\r\n${host}Connection: keep-alive\r\n\r\n${get}`,
    `POST ${route} HTTP/1.1\r\n${host}Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${get}`,
    `GET ${route} HTTP/1.1\r\n${host}Connection: upgrade\r\nUpgrade: websocket\r\n\r\n${get}`,
    `POST ${route} HTTP/1.1\r\n${host}Expect: 100-continue\r\nContent-Length: 3\r\n\r\nabc`,
    `POST ${route} HTTP/1.1\r\n${host}Content-Length: 9\r\n\r\nabc`,
    `${get}GARBAGE\r\n\r\n`,
  ],
  open,
  run,
};
