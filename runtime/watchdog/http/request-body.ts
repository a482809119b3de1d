import type { IncomingMessage } from "node:http";
import { Readable } from "node:stream";

/** Whether the request has a body. */
export function hasBody({ headers }: IncomingMessage): boolean {
  return headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0;
}

/**
 * The body of a request. Unlike the request itself, it can be destroyed without closing the caller's connection, on
 * which an early reply is still to be sent: the rest is discarded.
 */
export class RequestBody extends Readable {
  readonly #request: IncomingMessage;

  constructor(request: IncomingMessage) {
    super();
    this.#request = request;
    this.on("error", () => {});
    request.on("data", (chunk: Buffer) => {
      if (!this.destroyed && !this.push(chunk)) request.pause();
    });
    request.once("end", () => {
      if (!this.destroyed) this.push(null);
    });
    request.once("close", () => {
      if (!request.complete) this.destroy(new Error("the caller left"));
    });
    request.pause();
  }

  override _read(): void {
    this.#request.resume();
  }

  override _destroy(err: Error | null, done: (err: Error | null) => void): void {
    this.#request.resume();
    done(err);
  }
}

/** Reads the whole body; undefined if it is longer than `limit` bytes, and then discards the rest. Rejects if it breaks. */
export async function bufferRequestBody(request: IncomingMessage, limit: number): Promise<Buffer | undefined> {
  const body = new RequestBody(request);
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    size += chunk.byteLength;
    if (size > limit) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
