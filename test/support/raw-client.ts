import { once } from "node:events";
import { connect, type Socket } from "node:net";

import { patience } from "./eventually.ts";

/** Milliseconds; shorter than the idle timeouts of test gateways (20 s), which could close the connection instead. */
const closeTimeout = 15_000;

/** One HTTP response as received over the wire. */
export interface RawReply {
  readonly status: number;
  /** Names in lower case; repeated ones joined by `, `. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** A TCP connection that sends exact bytes and keeps everything that it receives. */
export class RawClient {
  readonly socket: Socket;
  #received = Buffer.alloc(0);
  #ended = false;

  constructor(socket: Socket) {
    this.socket = socket;
    socket.on("data", (chunk: Buffer) => {
      this.#received = Buffer.concat([this.#received, chunk]);
    });
    socket.on("end", () => {
      this.#ended = true;
    });
    socket.on("close", () => {
      this.#ended = true;
    });
    socket.on("error", () => {});
  }

  get text(): string {
    return this.#received.toString("latin1");
  }

  /** Whether the other side closed the connection. */
  get ended(): boolean {
    return this.#ended;
  }

  send(bytes: string | Uint8Array): void {
    this.socket.write(typeof bytes === "string" ? Buffer.from(bytes, "latin1") : bytes);
  }

  /** Waits for `count` complete responses; interim ones are skipped. */
  async replies(count: number, timeout = patience): Promise<RawReply[]> {
    const deadline = Date.now() + timeout;
    for (;;) {
      const replies = parseReplies(this.text, this.#ended);
      if (replies.length >= count) return replies;
      if (this.#ended || Date.now() > deadline) {
        throw new Error(
          `${replies.length} of ${count} replies came (ended: ${this.#ended}): ${this.text.slice(0, 2_000)}`,
        );
      }
      await nextEvent(this.socket, deadline - Date.now());
    }
  }

  /** Waits until the other side closed the connection. */
  async end(timeout = patience): Promise<void> {
    const deadline = Date.now() + timeout;
    while (!this.#ended) {
      if (Date.now() > deadline) throw new Error("the connection was not closed");
      await nextEvent(this.socket, deadline - Date.now());
    }
  }

  close(): void {
    this.socket.destroy();
  }
}

/** Connects to `port` on the loopback address. */
export async function openRawClient(port: number): Promise<RawClient> {
  const socket = connect(port, "127.0.0.1");
  socket.setNoDelay(true);
  await once(socket, "connect");
  return new RawClient(socket);
}

/**
 * Sends `bytes` on a new connection, waits for one response, and closes the connection. `closed`: the other side had
 * closed it, for which this waits if the response announces it; only a further request shows that one is kept.
 * @throws Error if an announced close does not come
 */
export async function rawRequest(
  port: number,
  bytes: string | Uint8Array,
  timeout = patience,
): Promise<RawReply & { readonly closed: boolean }> {
  const client = await openRawClient(port);
  try {
    client.send(bytes);
    const [reply] = await client.replies(1, timeout);
    if (reply === undefined) throw new Error("no reply");
    if (reply.headers["connection"] === "close") await client.end(closeTimeout);
    return { ...reply, closed: client.ended };
  } finally {
    client.close();
  }
}

/** Resolves when data or the end came, and after `atMost` milliseconds. */
function nextEvent(socket: Socket, atMost: number): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      socket.off("data", done).off("end", done).off("close", done);
      resolve();
    };
    const timer = setTimeout(done, Math.max(1, atMost));
    socket.on("data", done).on("end", done).on("close", done);
  });
}

/**
 * The complete responses in `text`, without interim ones; `ended`: nothing more follows. `methods` are those of the
 * requests, as a response to HEAD has no body.
 */
export function parseReplies(text: string, ended: boolean, methods: readonly string[] = []): RawReply[] {
  const replies: RawReply[] = [];
  let at = 0;
  while (at < text.length) {
    const headEnd = text.indexOf("\r\n\r\n", at);
    if (headEnd === -1) break;
    const [statusLine = "", ...lines] = text.slice(at, headEnd).split("\r\n");
    const status = Number(statusLine.split(" ")[1]);
    const headers: Record<string, string> = {};
    for (const line of lines) {
      const colon = line.indexOf(":");
      const name = line.slice(0, colon).toLowerCase();
      const value = line.slice(colon + 1).trim();
      headers[name] = headers[name] === undefined ? value : `${headers[name]}, ${value}`;
    }
    at = headEnd + 4;
    if (status < 200) continue;
    const body =
      methods[replies.length] === "HEAD" ? { text: "", end: at } : readBody(text, at, status, headers, ended);
    if (body === undefined) break;
    at = body.end;
    replies.push({ status, headers, body: body.text });
  }
  return replies;
}

function readBody(
  text: string,
  start: number,
  status: number,
  headers: Readonly<Record<string, string>>,
  ended: boolean,
): { text: string; end: number } | undefined {
  if (status === 204 || status === 304) return { text: "", end: start };
  if (headers["transfer-encoding"] === "chunked") {
    let at = start;
    let body = "";
    for (;;) {
      const lineEnd = text.indexOf("\r\n", at);
      if (lineEnd === -1) return undefined;
      const size = Number.parseInt(text.slice(at, lineEnd), 16);
      at = lineEnd + 2;
      if (text.length < at + size + 2) return undefined;
      if (size === 0) return { text: body, end: at + 2 };
      body += text.slice(at, at + size);
      at += size + 2;
    }
  }
  const length = headers["content-length"];
  if (length === undefined) return ended ? { text: text.slice(start), end: text.length } : undefined;
  const end = start + Number(length);
  return text.length < end ? undefined : { text: text.slice(start, end), end };
}
