import { STATUS_CODES, type IncomingMessage, type ServerResponse } from "node:http";
import type { Duplex } from "node:stream";

/** Time a client gets to read the answer before its connection is destroyed, in milliseconds. */
const linger = 1_000;

/** Where node:http keeps the response that is being written on a connection, and the request that is being read. */
export type HttpConnection = Duplex & {
  readonly bytesRead?: number;
  readonly _httpMessage?: ServerResponse | null;
  readonly parser?: { readonly incoming?: IncomingMessage | null } | null;
};

/** Answers bytes that are no HTTP request, or came too slowly, and closes the connection (`security.md` H10). */
export function answerClientError(err: NodeJS.ErrnoException, socket: HttpConnection): void {
  if (err.code === "ECONNRESET" || !socket.writable) {
    if (err.code === "ECONNRESET") socket.destroy();
    return;
  }
  if (err.code === "ERR_HTTP_REQUEST_TIMEOUT" && socket.bytesRead === 0) {
    // Nothing came, so nobody waits for an answer: one would be taken for that of the request that comes next.
    socket.destroy();
    return;
  }
  const current = socket._httpMessage;
  if (current?.req.complete === true && !current.writableEnded) {
    // The fault is in what follows a good request: that one still gets its answer, as the last.
    if (!current.headersSent) current.shouldKeepAlive = false;
    current.once("close", () => endSocket(socket, ""));
    return;
  }
  if (current?.headersSent === true) {
    socket.destroy();
    return;
  }
  if (current === null && socket.parser?.incoming?.complete === false) {
    // The fault is in the body of a request that was answered without it: it gets no second answer.
    endSocket(socket, "");
    return;
  }
  const { status, sentence } = faultOf(err.code ?? "");
  writeRaw(socket, status, sentence);
}

/** Answers a request that its client ended before its end. */
export function answerCutRequest(socket: Duplex): void {
  const { status, sentence } = faultOf("HPE_INVALID_EOF_STATE");
  writeRaw(socket, status, sentence);
}

/** Writes an error on a connection that has no response object, and closes it. */
export function writeRaw(socket: Duplex, status: number, sentence: string, headers: readonly string[] = []): void {
  const body = `${sentence}\n`;
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ""}`,
    "Content-Type: text/plain; charset=utf-8",
    "X-Content-Type-Options: nosniff",
    ...headers,
    `Content-Length: ${Buffer.byteLength(body)}`,
    "Connection: close",
  ];
  endSocket(socket, `${head.join("\r\n")}\r\n\r\n${body}`);
}

/**
 * Sends `last` and closes the connection, but lets the client read what was sent: an immediate close would answer bytes
 * still on their way with a reset.
 */
export function endSocket(socket: Duplex, last: string): void {
  if (socket.destroyed) return;
  socket.end(last);
  const timer = setTimeout(() => socket.destroy(), linger).unref();
  socket.once("close", () => clearTimeout(timer));
}

function faultOf(code: string): { status: number; sentence: string } {
  switch (code) {
    case "HPE_HEADER_OVERFLOW":
      return { status: 431, sentence: "Cannot read request: its head is over the limit of 16384 bytes" };
    case "HPE_CHUNK_EXTENSIONS_OVERFLOW":
      return { status: 413, sentence: "Cannot read request: its chunk extensions are over the limit of 16384 bytes" };
    case "ERR_HTTP_REQUEST_TIMEOUT":
      return { status: 408, sentence: "Cannot read request: its head was not complete in time" };
    default:
      return { status: 400, sentence: "Cannot read request: it is no well-formed HTTP/1.1" };
  }
}
