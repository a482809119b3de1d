import type { FastifyRequest } from "fastify";

import { sessionHeader } from "../../api/names.ts";
import { PlatformError } from "../../api/platform-error.ts";
import { quote } from "../../core/quote.ts";
import { cookieNames, cookieValues, type CookieNames } from "../access/sessions/session-cookies.ts";
import type { SessionProof } from "../access/sessions/session-reader.ts";
import type { ConsoleOrigin, ConsoleOrigins } from "./console-origins.ts";

type HeadersOf = Pick<FastifyRequest, "headers">;

/** What a browser says in a request to the console. */
export interface ConsoleRequest {
  readonly origin: ConsoleOrigin;
  readonly names: CookieNames;
  readonly proof: SessionProof;
}

/**
 * Reads it.
 * @throws PlatformError `wrong_host` when it is for another host
 */
export function consoleRequest({ headers }: HeadersOf, origins: ConsoleOrigins): ConsoleRequest {
  const origin = origins.ofHost(headers.host);
  if (origin === undefined) {
    const host = quote(headers.host ?? "");
    throw new PlatformError("wrong_host", `Cannot answer for host ${host}: it is none of console_origins`);
  }
  const names = cookieNames(origin.isSecure);
  const cookies = cookieValues(headers.cookie, names.session);
  const publicHalf = headerText(headers[sessionHeader.toLowerCase()]);
  return { origin, names, proof: { cookies, publicHalf, needsHalf: !origin.isSecure } };
}

/** A header that came several times counts as one text, which is equal to none of them. */
export function headerText(value: string | readonly string[] | undefined): string | undefined {
  return typeof value === "string" || value === undefined ? value : value.join(", ");
}
