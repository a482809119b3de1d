import type { IncomingMessage } from "node:http";

import { PlatformError } from "../api/platform-error.ts";
import { Http2Request } from "./http2/http2-request.ts";

/** Contract §1.6. */
const targetLimit = 8_192;
const origin = /^\/[!"$-~]*$/;

/** @throws PlatformError for targets and methods that no route takes; all of them close the connection */
export function checkRequestLine(request: IncomingMessage, target: string): void {
  const { method, httpVersion } = request;
  if (httpVersion !== "1.1" && httpVersion !== "1.0" && !(request instanceof Http2Request)) {
    throw new PlatformError("malformed_request", `Cannot read request: HTTP/${httpVersion} is not spoken here`);
  }
  if (target.length > targetLimit) {
    throw new PlatformError(
      "target_too_long",
      `Cannot read request: its target of ${target.length} bytes is over the limit of ${targetLimit}`,
    );
  }
  if (!origin.test(target)) {
    throw new PlatformError(
      "malformed_request",
      "Cannot read request: its target is not an origin-form of printable ASCII",
    );
  }
  if (method === "TRACE")
    throw new PlatformError("method_not_allowed", 'Cannot use method "TRACE": it is not allowed here');
}

/** A peer that speaks HTTP/1.0 does not know what chunks are, so somebody in between made them up (RFC 9112 §6.1). */
export function oldChunks(): PlatformError {
  return new PlatformError("malformed_request", "Cannot read request: HTTP/1.0 has no transfer codings");
}
