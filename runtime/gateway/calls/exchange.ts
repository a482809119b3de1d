import type { Http1Request } from "../edge/http1/http1-request.ts";
import type { Http2Request } from "../edge/http2/http2-request.ts";

/** A request of a call, by whichever way it came. */
export type CallRequest = Http1Request | Http2Request;

/** What is used of the response to a call, over HTTP/1.1 or HTTP/2. */
export interface CallResponse {
  statusCode: number;
  shouldKeepAlive: boolean;
  readonly headersSent: boolean;
  readonly writableEnded: boolean;
  readonly destroyed: boolean;
  /** @throws Error when a header cannot be sent; then nothing was sent */
  writeHead(status: number, headers?: string[] | Record<string, string>): CallResponse;
  /** False asks to wait for `drain`. The bytes are the response's until `done` is called, or for good. */
  write(chunk: Uint8Array, done?: () => void): boolean;
  write(chunk: string, encoding: BufferEncoding): boolean;
  end(chunk?: string | Uint8Array): CallResponse;
  end(chunk: string, encoding: BufferEncoding): CallResponse;
  /** Takes back a head of which nothing was sent, so that another one can be made; false: it is out. */
  takeBack(): boolean;
  destroy(): unknown;
  /** `close`: it was written to its end, or cannot be any more. */
  on(event: "close" | "drain" | "finish", listener: () => void): unknown;
  once(event: "close" | "drain" | "finish", listener: () => void): unknown;
  off(event: "close" | "drain" | "finish", listener: () => void): unknown;
}
