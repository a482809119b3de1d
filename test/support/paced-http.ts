import { once } from "node:events";
import { createServer, type AddressInfo, type Socket } from "node:net";
import type { Readable } from "node:stream";

import { seededRandom } from "../../scripts/random.ts";

/** Milliseconds between two reads of a slow side. */
const beat = 25;
/** What ends a head. */
export const headEnd = "\r\n\r\n";
const lastChunk = Buffer.from("0\r\n\r\n");

/** Sends pieces of odd lengths below 64 KiB, each when the one before is with the kernel. */
export async function sendInPieces(socket: Socket, body: Buffer, chunked = false): Promise<void> {
  const random = seededRandom(body.byteLength);
  for (let at = 0; at < body.byteLength;) {
    const end = Math.min(body.byteLength, at + 1 + Math.floor(random() * 65_000));
    const piece = body.subarray(at, end);
    const bytes = chunked
      ? Buffer.concat([Buffer.from(`${piece.length.toString(16)}\r\n`), piece, Buffer.from("\r\n")])
      : piece;
    await new Promise((resolve) => socket.write(bytes, resolve));
    at = end;
  }
  if (chunked) socket.write("0\r\n\r\n");
}

/** Reads one answer with a length or in chunks; `rate` bytes a second at most. */
export function readAnswer(socket: Socket, rate = Number.POSITIVE_INFINITY): Promise<{ status: number; body: Buffer }> {
  return new Promise((resolve, reject) => {
    const pieces: Buffer[] = [];
    let size = 0;
    const stop = throttle(socket, rate);
    const closed = (): void => {
      stop();
      reject(
        new Error(
          `the connection ended after ${size} bytes: ${Buffer.concat(pieces).toString("latin1").slice(0, 300)}`,
        ),
      );
    };
    const onData = (piece: Buffer): void => {
      pieces.push(piece);
      size += piece.byteLength;
      const answer = parseAnswer(pieces, size);
      if (answer === undefined) return;
      stop();
      socket.off("data", onData).off("close", closed);
      resolve(answer);
    };
    socket.on("data", onData).once("close", closed);
  });
}

const wholeOf = new WeakMap<Buffer[], { status: number; from: number; length: number }>();

function parseAnswer(pieces: Buffer[], size: number): { status: number; body: Buffer } | undefined {
  let known = wholeOf.get(pieces);
  if (known === undefined) {
    const text = Buffer.concat(pieces).toString("latin1");
    const end = text.indexOf(headEnd);
    if (end === -1) return undefined;
    const length = /content-length: (\d+)/i.exec(text.slice(0, end))?.[1];
    known = {
      status: Number(text.slice(9, 12)),
      from: end + headEnd.length,
      length: length === undefined ? -1 : Number(length),
    };
    wholeOf.set(pieces, known);
  }
  const { status, from, length } = known;
  if (length !== -1) {
    if (size < from + length) return undefined;
    return { status, body: Buffer.concat(pieces).subarray(from, from + length) };
  }
  const last = pieces.at(-1);
  if (last === undefined || !endsChunks(last, pieces)) return undefined;
  return { status, body: joinChunks(Buffer.concat(pieces).subarray(from)) };
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

/** Lets `rate` bytes a second through; the function that is returned ends that. */
export function throttle(socket: Readable, rate: number): () => void {
  if (rate === Number.POSITIVE_INFINITY) return () => {};
  let allowance = 0;
  const count = (piece: Buffer): void => {
    allowance -= piece.byteLength;
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

/** Reads requests, one after another, `rate` bytes a second at most, and tells of each whole one. */
export function readSlowly(socket: Socket, rate: number, onRequest: (head: string, body: Buffer) => void): void {
  let pieces: Buffer[] = [];
  let size = 0;
  let head: string | undefined;
  const keep = (rest: Buffer): void => {
    pieces = [rest];
    size = rest.byteLength;
  };
  /** Takes the body off what came, if it is whole. */
  const takeBody = (of: string): Buffer | undefined => {
    const chunked = /^transfer-encoding: chunked/im.test(of);
    const length = Number(/(?:content-|x-)length: (\d+)/i.exec(of)?.[1] ?? 0);
    const last = pieces.at(-1) ?? Buffer.alloc(0);
    // Joined only when it may be over: there are many pieces.
    if (chunked ? !endsChunks(last, pieces) : size < length) return undefined;
    const all = Buffer.concat(pieces);
    keep(chunked ? Buffer.alloc(0) : all.subarray(length));
    return chunked ? joinChunks(all) : all.subarray(0, length);
  };
  throttle(socket, rate);
  socket.on("error", () => {});
  socket.on("data", (piece: Buffer) => {
    pieces.push(piece);
    size += piece.byteLength;
    while (size > 0) {
      if (head === undefined) {
        const all = Buffer.concat(pieces);
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

/** Whether the pieces end as a body in chunks does; a test's own bodies hold no such end. */
function endsChunks(last: Buffer, pieces: readonly Buffer[]): boolean {
  const tail = last.byteLength >= lastChunk.byteLength ? last : Buffer.concat(pieces.slice(-lastChunk.byteLength));
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
