import type { IncomingMessage } from "node:http";

import { PlatformError } from "../api/platform-error.ts";
import { quote } from "../core/quote.ts";
import type { ClientAddresses } from "./client-address.ts";

/** Which pages a browser may call the platform from. */
export interface OriginRules {
  /** Origins beside the gateway's own. */
  readonly allowed: readonly string[];
  readonly clients: ClientAddresses;
}

/**
 * Refuses requests that a browser sends for a page of another origin (contract §1.2).
 * @throws PlatformError `cross_origin`
 */
export function checkOrigin(request: IncomingMessage, { allowed, clients }: OriginRules): void {
  const { origin } = request.headers;
  if (origin === undefined || allowed.includes(origin)) return;
  if (origin.toLowerCase() === ownOrigin(request, clients)) return;
  throw new PlatformError(
    "cross_origin",
    `Cannot answer a page of origin ${quote(origin)}: it is not the gateway's nor allowed`,
  );
}

function ownOrigin(request: IncomingMessage, clients: ClientAddresses): string {
  const direct = "encrypted" in request.socket ? "https" : "http";
  const forwarded = request.headers["x-forwarded-proto"];
  const believed = typeof forwarded === "string" && clients.isTrusted(request.socket.remoteAddress);
  return `${believed ? forwarded : direct}://${request.headers.host ?? ""}`.toLowerCase();
}
