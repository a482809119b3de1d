import { createHash } from "node:crypto";
import { once } from "node:events";
import { connect as connectHttp2 } from "node:http2";
import { connect, type Socket } from "node:net";
import type { Readable } from "node:stream";
import { connect as connectTls } from "node:tls";

import { seededRandom } from "../../scripts/random.ts";
import { headEnd, openReplica, readAnswer, readSlowly, sendInPieces, throttle } from "./paced-http.ts";
import type { SyncGateway } from "./sync-gateway.ts";

/** The gateway, with its certificate if it uses TLS. */
export interface SlowGateway extends Pick<SyncGateway, "deploy" | "port"> {
  readonly cert?: Buffer;
}

/** How much is sent and how slowly it is read. */
export interface SlowTransfer {
  /** Bytes of each body. */
  readonly size: number;
  /** Bytes per second that the slow side reads. */
  readonly rate: number;
  /** Bodies in flight at the same time. */
  readonly transfers: number;
  /** Callers of another function meanwhile, each with its own token. */
  readonly others: number;
  /** How clients call the slow function: by HTTP/1.1 with a length or in transfer chunks, by HTTP/2, by WebSocket. */
  readonly by?: "length" | "chunks" | "http2" | "websocket";
  /** Puts a proxy in front of the function at `address`; resolves to the proxy's address. */
  readonly front?: (address: string) => Promise<string>;
}

export interface SlowOutcome {
  /** One sentence each. */
  readonly faults: readonly string[];
  /** Calls that the others made meanwhile. */
  readonly otherCalls: number;
}

/** Numbers functions: several transfers may run at a time, each with its own functions. */
let runs = 0;

/**
 * Sends bodies in chunks below 64 KiB to a function that reads slowly. Callers are marked: each must get its own bytes
 * back, and the slow function must get nobody else's.
 */
export async function sendToSlowFunction(gateway: SlowGateway, transfer: SlowTransfer): Promise<SlowOutcome> {
  await using replica = await openReplica((socket) => {
    readSlowly(socket, transfer.rate, (head, body) => {
      const upgrade = /^upgrade: websocket/im.test(head);
      const reply = Buffer.from(JSON.stringify({ head, sha: sha(body) }));
      const line = upgrade ? "" : `HTTP/1.1 200 OK\r\nContent-Length: ${reply.byteLength}\r\n\r\n`;
      socket.write(line + reply.toString());
      if (upgrade) socket.end();
    });
  });
  const slow = `slow-${(runs += 1)}`;
  gateway.deploy(slow, { addresses: [(await transfer.front?.(replica.address)) ?? replica.address] });
  const upload = { length: uploadByLength, chunks: uploadInChunks, http2: uploadByHttp2, websocket: uploadByWebSocket };
  return await beside(gateway, transfer, async (mark, body) => {
    const reply = await upload[transfer.by ?? "length"](gateway, slow, mark, body);
    const received: { readonly head?: string; readonly sha?: string } = JSON.parse(reply);
    if (received.head?.includes(`Bearer ${mark}`) !== true)
      return `${mark} reached the function with the head ${received.head?.slice(0, 300)}`;
    return received.sha === sha(body) ? undefined : `the body of ${mark} changed on its way`;
  });
}

async function uploadByLength(gateway: SlowGateway, slow: string, mark: string, body: Buffer): Promise<string> {
  const socket = await open(gateway);
  socket.write(requestHead(slow, mark, body.byteLength));
  await sendInPieces(socket, body);
  const { body: reply } = await readAnswer(socket);
  socket.destroy();
  return reply.toString("latin1");
}

async function uploadInChunks(gateway: SlowGateway, slow: string, mark: string, body: Buffer): Promise<string> {
  const socket = await open(gateway);
  socket.write(requestHead(slow, mark, body.byteLength).replace(/Content-Length: \d+/, "Transfer-Encoding: chunked"));
  await sendInPieces(socket, body, true);
  const { body: reply } = await readAnswer(socket);
  socket.destroy();
  return reply.toString("latin1");
}

async function uploadByHttp2(gateway: SlowGateway, slow: string, mark: string, body: Buffer): Promise<string> {
  const session = connectHttp2(`https://localhost:${gateway.port}`, { ca: gateway.cert });
  try {
    const stream = session.request({
      ":method": "POST",
      ":path": `/function/${slow}`,
      authorization: `Bearer ${mark}`,
      "content-length": body.byteLength,
    });
    stream.end(body);
    return (await collect(stream)).toString("latin1");
  } finally {
    session.destroy();
  }
}

/** After the 101 the test sends raw bytes, as many as `X-Length` says. */
async function uploadByWebSocket(gateway: SlowGateway, slow: string, mark: string, body: Buffer): Promise<string> {
  const socket = await open(gateway);
  const upgrade = `Connection: Upgrade\r\nUpgrade: websocket\r\nX-Length: ${body.byteLength}`;
  socket.write(
    requestHead(slow, mark, 0)
      .replace("POST", "GET")
      .replace(/Content-Length: \d+/, upgrade),
  );
  await sendInPieces(socket, body);
  const text = (await collect(socket)).toString("latin1");
  return text.slice(text.indexOf(headEnd) + headEnd.length);
}

async function collect(stream: Readable): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return Buffer.concat(chunks);
}

/** Reads the responses of a function slowly. */
export async function readFromFunctionSlowly(gateway: SlowGateway, transfer: SlowTransfer): Promise<SlowOutcome> {
  await using replica = await openReplica((socket) => {
    readSlowly(socket, Number.POSITIVE_INFINITY, (head, body) => {
      const mark = /Bearer (\S+)/.exec(head)?.[1] ?? "";
      const reply = markedBytes(mark, Number(body.toString("latin1")));
      // Marks that end with 1 get transfer chunks, the others a length.
      const chunked = mark.endsWith("1");
      socket.write(
        `HTTP/1.1 200 OK\r\n${chunked ? "Transfer-Encoding: chunked" : `Content-Length: ${reply.byteLength}`}\r\n\r\n`,
      );
      void sendInPieces(socket, reply, chunked);
    });
  });
  const slow = `slow-${(runs += 1)}`;
  gateway.deploy(slow, { addresses: [(await transfer.front?.(replica.address)) ?? replica.address] });
  return await beside(gateway, transfer, async (mark, body) => {
    const download = transfer.by === "http2" ? downloadByHttp2 : downloadByHttp1;
    const reply = await download(gateway, slow, mark, String(body.byteLength), transfer.rate);
    return reply.equals(body) ? undefined : `the answer to ${mark} changed on its way`;
  });
}

async function downloadByHttp1(
  gateway: SlowGateway,
  slow: string,
  mark: string,
  size: string,
  rate: number,
): Promise<Buffer> {
  const socket = await open(gateway);
  socket.write(requestHead(slow, mark, size.length) + size);
  const { body } = await readAnswer(socket, rate);
  socket.destroy();
  return body;
}

async function downloadByHttp2(
  gateway: SlowGateway,
  slow: string,
  mark: string,
  size: string,
  rate: number,
): Promise<Buffer> {
  const session = connectHttp2(`https://localhost:${gateway.port}`, { ca: gateway.cert });
  try {
    const stream = session.request({
      ":method": "POST",
      ":path": `/function/${slow}`,
      authorization: `Bearer ${mark}`,
    });
    stream.end(size);
    throttle(stream, rate);
    const chunks: Buffer[] = [];
    stream.on("data", (chunk: Buffer) => chunks.push(chunk));
    await once(stream, "end");
    return Buffer.concat(chunks);
  } finally {
    session.destroy();
  }
}

/** Makes the transfers while the others call; every failure of either is a fault. */
async function beside(
  gateway: SlowGateway,
  { size, transfers, others }: SlowTransfer,
  make: (mark: string, body: Buffer) => Promise<string | undefined>,
): Promise<SlowOutcome> {
  await using replica = await openReplica((socket) => {
    readSlowly(socket, Number.POSITIVE_INFINITY, (head, body) => {
      const content = Buffer.concat([
        Buffer.from(head.slice(head.indexOf("Bearer"), head.indexOf("Bearer") + 40)),
        body,
      ]);
      socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${content.byteLength}\r\n\r\n`);
      socket.write(content);
    });
  });
  const echo = `echo-${(runs += 1)}`;
  gateway.deploy(echo, { addresses: [replica.address] });
  const faults: string[] = [];
  let going = true;
  let otherCalls = 0;
  const call = async (index: number): Promise<void> => {
    const mark = `other-${String(index).padStart(4, "0")}-${"t".repeat(40)}`;
    const socket = await open(gateway);
    const random = seededRandom(index);
    while (going) {
      const body = markedBytes(mark, 1 + Math.floor(random() * 40_000));
      socket.write(requestHead(echo, mark, body.byteLength));
      socket.write(body);
      const reply = await readAnswer(socket);
      otherCalls += 1;
      const expected = Buffer.concat([Buffer.from(`Bearer ${mark}`.slice(0, 40)), body]);
      if (reply.status === 200 && reply.body.equals(expected)) continue;
      faults.push(`${mark} got status ${reply.status} and ${reply.body.toString("latin1").slice(0, 200)}`);
      break;
    }
    socket.destroy();
  };
  const failed = (err: unknown): void => void faults.push(err instanceof Error ? err.message : String(err));
  const calling = Array.from({ length: others }, (_, index) => call(index).catch(failed));
  const making = Array.from({ length: transfers }, async (_, index) => {
    const mark = `slow-${index}`;
    const fault = await make(mark, markedBytes(mark, size));
    if (fault !== undefined) faults.push(fault);
  });
  await Promise.all(making.map((each) => each.catch(failed)));
  going = false;
  await Promise.all(calling);
  return { faults, otherCalls };
}

/** Bytes that show their owner at every position. */
function markedBytes(mark: string, size: number): Buffer {
  return Buffer.alloc(size, `${mark}|`);
}

function sha(body: Buffer): string {
  return createHash("sha1").update(body).digest("hex");
}

function requestHead(name: string, mark: string, length: number): string {
  return `POST /function/${name} HTTP/1.1\r\nHost: g\r\nAuthorization: Bearer ${mark}\r\nContent-Length: ${length}\r\n\r\n`;
}

async function open({ port, cert }: SlowGateway): Promise<Socket> {
  const options = { port, host: "127.0.0.1", noDelay: true };
  const socket = cert === undefined ? connect(options) : connectTls({ ...options, ca: cert, servername: "localhost" });
  socket.on("error", () => {});
  await once(socket, cert === undefined ? "connect" : "secureConnect");
  return socket;
}
