import type { IncomingMessage } from "node:http";

import type { PlainRequest } from "../fast-path/plain-request.ts";

/** A request of a call, by whichever way it came. */
export type CallRequest = IncomingMessage | PlainRequest;

/** What is used of the response to a call: a `ServerResponse` of node:http, of HTTP/2 or of an upgrade, or a plain one. */
export interface CallResponse {
  statusCode: number;
  shouldKeepAlive: boolean;
  readonly headersSent: boolean;
  readonly writableEnded: boolean;
  readonly destroyed: boolean;
  /** @throws Error when a header cannot be sent; then nothing was sent */
  writeHead(status: number, headers?: string[] | Record<string, string>): CallResponse;
  /** False asks to wait for `drain`. */
  write(chunk: Uint8Array): boolean;
  write(chunk: string, encoding: BufferEncoding): boolean;
  end(chunk?: string | Uint8Array): CallResponse;
  end(chunk: string, encoding: BufferEncoding): CallResponse;
  destroy(): unknown;
  /** `close`: it was written to its end, or cannot be any more. */
  on(event: "close" | "drain" | "finish", listener: () => void): unknown;
  once(event: "close" | "drain" | "finish", listener: () => void): unknown;
  off(event: "close" | "drain" | "finish", listener: () => void): unknown;
}
