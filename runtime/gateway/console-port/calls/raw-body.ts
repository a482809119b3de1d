import type { IncomingMessage } from "node:http";

import { PlatformError } from "../../../api/platform-error.ts";
import { readWholeBody } from "../../rest/json/body-parser.ts";

/** Media type of a body that is passed on as it is. */
export const rawType = "application/octet-stream";

/** Most bytes that the console passes to a function, and from one (`iam.md` §8). */
export const maxRawBody = 8_388_608;

/**
 * Makes any body reach `readRawBody`: what a function is told of it is said elsewhere.
 * @throws PlatformError `payload_too_large`
 */
export function admitRawBody({ headers }: IncomingMessage): void {
  const length = Number(headers["content-length"] ?? 0);
  if (length > maxRawBody) {
    throw new PlatformError("payload_too_large", `Cannot read the body: it is over the limit of ${maxRawBody} bytes`);
  }
  headers["content-type"] = rawType;
}

/**
 * The bytes of a request's body.
 * @throws PlatformError `payload_too_large`, `malformed_request`
 */
export function readRawBody(request: IncomingMessage): Promise<Buffer> {
  return readWholeBody(request, maxRawBody);
}
