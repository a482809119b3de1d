import type { Server } from "node:http";

/** What bounds how long a connection may be without a whole request. */
export interface HeadLimits {
  readonly headersTimeout: number;
  readonly requestTimeout: number;
  readonly connectionsCheckingInterval: number;
}

/**
 * Options of a server of node:http that closes a connection whose head is not whole within `headersTimeout` milliseconds,
 * the first one counted from the start of the connection. Node.js looks for those only twice a minute by default.
 * `requestTimeout`: longest time for the body as well, 0 = any.
 */
export function headLimits(headersTimeout: number, requestTimeout = headersTimeout): HeadLimits {
  return { headersTimeout, requestTimeout, connectionsCheckingInterval: Math.min(1_000, headersTimeout) };
}

/**
 * Makes a server of node:http reply to a client that ended its side after a whole request. Otherwise Node.js drops the reply,
 * although the end of one side only says that no further request follows.
 */
export function replyToEnded<S extends Server>(server: S): S {
  return Object.assign(server, { httpAllowHalfOpen: true });
}
