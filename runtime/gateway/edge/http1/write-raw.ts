import { STATUS_CODES } from "node:http";
import type { Duplex } from "node:stream";

import { httpDate } from "../../../http1/http-date.ts";

/**
 * Writes an error as the last response on the connection, without an exchange; `headOnly` omits the body, as for HEAD.
 */
export function writeRaw(socket: Duplex, status: number, sentence: string, headOnly = false): void {
  const body = `${sentence}\n`;
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ""}`,
    "Content-Type: text/plain; charset=utf-8",
    "X-Content-Type-Options: nosniff",
    `Content-Length: ${Buffer.byteLength(body)}`,
    `Date: ${httpDate()}`,
    "Connection: close",
  ];
  socket.write(`${head.join("\r\n")}\r\n\r\n${headOnly ? "" : body}`);
}
