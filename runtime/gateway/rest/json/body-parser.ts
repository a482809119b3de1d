import type { IncomingMessage } from "node:http";

import { PlatformError } from "../../../api/platform-error.ts";
import { parseJsonBody } from "./json-body.ts";

/** Most bytes of a body on `/system`. */
const bodyLimit = 2_097_152;

/**
 * Refuses, by the headers alone, a body that is too long, multipart or encoded. Any other body is read as JSON,
 * whatever its Content-Type says.
 * @throws PlatformError `payload_too_large`, `unsupported_media_type`
 */
export function checkBodyHeaders(request: IncomingMessage): void {
  const { headers } = request;
  if (Number(headers["content-length"] ?? 0) > bodyLimit) throw tooLarge(bodyLimit);
  if (headers["content-encoding"] !== undefined) {
    throw new PlatformError("unsupported_media_type", "Cannot read the body: it has a Content-Encoding");
  }
  if (/^\s*multipart\//i.test(headers["content-type"] ?? "")) {
    throw new PlatformError("unsupported_media_type", "Cannot read the body: it is multipart, expected JSON");
  }
  headers["content-type"] = "application/json";
}

/**
 * The JSON of a request's body, or undefined when it is empty. The server watches that it arrives fast enough.
 * @throws PlatformError `payload_too_large`, `malformed_request`
 */
export async function readJsonBody(request: IncomingMessage): Promise<unknown> {
  return parseJsonBody(await readWholeBody(request, bodyLimit));
}

/**
 * The body of a request, of at most `limit` bytes; what is beyond them is dropped once the reply is sent.
 * @throws PlatformError `payload_too_large`, `malformed_request` when the client left
 */
export function readWholeBody(request: IncomingMessage, limit: number): Promise<Buffer> {
  // A request that was read to its end, as one without a body, emits no more events.
  if (request.readableEnded) return Promise.resolve(Buffer.alloc(0));
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const stop = (): void => void request.off("data", onData).off("end", onEnd).off("close", onClose);
    const fail = (err: PlatformError): void => {
      stop();
      reject(err);
    };
    const onData = (chunk: Buffer): void => {
      size += chunk.length;
      if (size > limit) fail(tooLarge(limit));
      else chunks.push(chunk);
    };
    const onEnd = (): void => {
      stop();
      resolve(Buffer.concat(chunks, size));
    };
    const onClose = (): void => fail(new PlatformError("malformed_request", "Cannot read the body: the client left"));
    // A request that is aborted also emits `error`, so that listener stays for as long as the request exists.
    request.on("data", onData).on("end", onEnd).on("close", onClose).on("error", onClose);
  });
}

function tooLarge(limit: number): PlatformError {
  return new PlatformError("payload_too_large", `Cannot read the body: it is over the limit of ${limit} bytes`);
}
