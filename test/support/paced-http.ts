import { once } from "node:events";
import { createServer, type AddressInfo, type Socket } from "node:net";
import type { Readable } from "node:stream";

import { seededRandom } from "../../scripts/random.ts";

/** Milliseconds between two reads of a slow reader. */
const beat = 25;
/** The end of a head. */
export const headEnd = "\r\n\r\n";
const lastChunk = Buffer.from("0\r\n\r\n");

/** Sends chunks of odd lengths below 64 KiB, each when the kernel has the one before. */
export async function sendInPieces(socket: Socket, body: Buffer, chunked = false): Promise<void> {
  const random = seededRandom(body.byteLength);
  for (let at = 0; at < body.byteLength;) {
    const end = Math.min(body.byteLength, at + 1 + Math.floor(random() * 65_000));
    const chunk = body.subarray(at, end);
    const bytes = chunked
      ? Buffer.concat([Buffer.from(`${chunk.length.toString(16)}\r\n`), chunk, Buffer.from("\r\n")])
      : chunk;
    await new Promise((resolve) => socket.write(bytes, resolve));
    at = end;
  }
  if (chunked) socket.write("0\r\n\r\n");
}

/** Reads one response with a length or in transfer chunks, at most `rate` bytes per second. */
export function readAnswer(socket: Socket, rate = Number.POSITIVE_INFINITY): Promise<{ status: number; body: Buffer }> {
  return new Promise((resolve, reject) => {
    const received: Buffer[] = [];
    let size = 0;
    const stop = throttle(socket, rate);
    const closed = (): void => {
      stop();
      reject(
        new Error(
          `the connection ended after ${size} bytes: ${Buffer.concat(received).toString("latin1").slice(0, 300)}`,
        ),
      );
    };
    const onData = (chunk: Buffer): void => {
      received.push(chunk);
      size += chunk.byteLength;
      const response = parseResponse(received, size);
      if (response === undefined) return;
      stop();
      socket.off("data", onData).off("close", closed);
      resolve(response);
    };
    socket.on("data", onData).once("close", closed);
  });
}

const parsedHeads = new WeakMap<Buffer[], { status: number; from: number; length: number }>();

function parseResponse(received: Buffer[], size: number): { status: number; body: Buffer } | undefined {
  let known = parsedHeads.get(received);
  if (known === undefined) {
    const text = Buffer.concat(received).toString("latin1");
    const end = text.indexOf(headEnd);
    if (end === -1) return undefined;
    const length = /content-length: (\d+)/i.exec(text.slice(0, end))?.[1];
    known = {
      status: Number(text.slice(9, 12)),
      from: end + headEnd.length,
      length: length === undefined ? -1 : Number(length),
    };
    parsedHeads.set(received, known);
  }
  const { status, from, length } = known;
  if (length !== -1) {
    if (size < from + length) return undefined;
    return { status, body: Buffer.concat(received).subarray(from, from + length) };
  }
  const last = received.at(-1);
  if (last === undefined || !endsChunks(last, received)) return undefined;
  return { status, body: joinChunks(Buffer.concat(received).subarray(from)) };
}

function joinChunks(bytes: Buffer): Buffer {
  const parts: Buffer[] = [];
  for (let at = 0; ;) {
    const lineEnd = bytes.indexOf("\r\n", at);
    const length = Number.parseInt(bytes.toString("latin1", at, lineEnd), 16);
    if (!(length > 0)) return Buffer.concat(parts);
    parts.push(bytes.subarray(lineEnd + 2, lineEnd + 2 + length));
    at = lineEnd + 2 + length + 2;
  }
}

/** Limits reading to `rate` bytes per second; the returned function ends that. */
export function throttle(socket: Readable, rate: number): () => void {
  if (rate === Number.POSITIVE_INFINITY) return () => {};
  let allowance = 0;
  const count = (chunk: Buffer): void => {
    allowance -= chunk.byteLength;
    if (allowance <= 0) socket.pause();
  };
  socket.on("data", count);
  socket.pause();
  const timer = setInterval(() => {
    allowance = Math.min(allowance + (rate * beat) / 1_000, rate);
    if (allowance > 0) socket.resume();
  }, beat);
  socket.once("close", () => clearInterval(timer));
  return () => {
    clearInterval(timer);
    socket.off("data", count);
    socket.resume();
  };
}

/** Reads requests one after another, at most `rate` bytes per second; calls `onRequest` for each complete one. */
export function readSlowly(socket: Socket, rate: number, onRequest: (head: string, body: Buffer) => void): void {
  let received: Buffer[] = [];
  let size = 0;
  let head: string | undefined;
  const keep = (rest: Buffer): void => {
    received = [rest];
    size = rest.byteLength;
  };
  /** Removes the body from the received bytes, if it is complete. */
  const takeBody = (of: string): Buffer | undefined => {
    const chunked = /^transfer-encoding: chunked/im.test(of);
    const length = Number(/(?:content-|x-)length: (\d+)/i.exec(of)?.[1] ?? 0);
    const last = received.at(-1) ?? Buffer.alloc(0);
    // Joined only when the body may be complete: there are many chunks.
    if (chunked ? !endsChunks(last, received) : size < length) return undefined;
    const all = Buffer.concat(received);
    keep(chunked ? Buffer.alloc(0) : all.subarray(length));
    return chunked ? joinChunks(all) : all.subarray(0, length);
  };
  throttle(socket, rate);
  socket.on("error", () => {});
  socket.on("data", (chunk: Buffer) => {
    received.push(chunk);
    size += chunk.byteLength;
    while (size > 0) {
      if (head === undefined) {
        const all = Buffer.concat(received);
        const end = all.indexOf(headEnd);
        if (end === -1) return;
        head = all.toString("latin1", 0, end);
        keep(all.subarray(end + headEnd.length));
        if (/^upgrade: websocket/im.test(head)) {
          socket.write("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n");
        }
      }
      const body = takeBody(head);
      if (body === undefined) return;
      const whole = head;
      head = undefined;
      onRequest(whole, body);
    }
  });
}

/** Whether the bytes end as a chunked body does; the bodies of tests do not contain that end. */
function endsChunks(last: Buffer, received: readonly Buffer[]): boolean {
  const tail = last.byteLength >= lastChunk.byteLength ? last : Buffer.concat(received.slice(-lastChunk.byteLength));
  return tail.subarray(-lastChunk.byteLength).equals(lastChunk);
}

/** A replica whose bytes the test reads and writes itself. */
export async function openReplica(onConnection: (socket: Socket) => void) {
  const sockets = new Set<Socket>();
  const server = createServer({ noDelay: true }, (socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
    onConnection(socket);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    address: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    [Symbol.asyncDispose]: async () => {
      server.close();
      for (const socket of sockets) socket.destroy();
      await once(server, "close");
    },
  };
}
