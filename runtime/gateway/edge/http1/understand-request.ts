import { PlatformError } from "../../../api/platform-error.ts";
import type { RequestText } from "../../../http1/request-text.ts";
import { checkRequestLine } from "../check-request-line.ts";
import type { HeadReader } from "../head-reader.ts";
import type { RequestHead } from "../../calls/request-head.ts";

/**
 * Interprets the head of a request over HTTP/1.1.
 * @throws PlatformError when it breaks a rule; it closes the connection
 */
export function understandRequest(
  { method, target, version, rawHeaders }: RequestText,
  address: string,
  secure: boolean,
  readHead: HeadReader,
  local = false,
): RequestHead {
  checkRequestLine(method, target);
  const head = readHead(rawHeaders, address, secure, local);
  // A peer of HTTP/1.0 does not know chunks, so the framing of such a message is faulty (RFC 9112 §6.1).
  if (head.chunked && version === "1.0")
    throw new PlatformError("malformed_request", "Cannot read request: HTTP/1.0 has no transfer codings");
  return head;
}
