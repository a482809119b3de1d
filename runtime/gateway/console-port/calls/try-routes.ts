import type { FastifyReply, FastifyRequest } from "fastify";
import Type from "typebox";

import { tryHeader } from "../../../api/names.ts";
import { PlatformError } from "../../../api/platform-error.ts";
import { headerText } from "../../auth/console-request.ts";
import { asyncFunctionPrefix, functionPrefix } from "../../calls/split-target.ts";
import { maxRawBody, rawType } from "./raw-body.ts";
import { route, type RouteEntry, type RouteMethod } from "../../rest/route.ts";
import { askedHeaders } from "./asked-headers.ts";
import { HeldExchange, type HeldReply } from "./held-exchange.ts";
import type { SessionCalls } from "./session-calls.ts";
import { toldHeaders } from "./told-reply.ts";

/** What a call made by a page begins with; the name of the function follows, and whatever it is to read. */
export const tryPrefix = "/ui/try/";

const methods: readonly RouteMethod[] = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];

/** Replies are held whole: with 8 MiB each way, that many take 256 MiB at most. */
const maxAtOnce = 16;
/** Milliseconds for which a reply may go on after its head. */
export const longestHeld = 30_000;

/** Calls that pages make: what functions said is never a page of this origin (`iam.md` §8). */
export function tryRoutes(calls: SessionCalls, hostOf: () => string): readonly RouteEntry[] {
  const running = new Set<HeldExchange>();
  return methods.map((method) =>
    route(
      {
        id: `tryFunction${method}`,
        group: "calls",
        method,
        path: `${tryPrefix}:name/*`,
        also: [`${tryPrefix}:name`],
        needs: "credentials",
        about: "Calls a function for a page of the console.",
        bodyType: rawType,
        responses: [{ status: 200, about: "What the function said", schema: Type.String(), type: rawType }],
        head: false,
        // Calls are none of the platform.
        changes: false,
        documented: false,
      },
      () =>
        async ({ request, reply, body, principal }) => {
          requirePage(request);
          if (running.size >= maxAtOnce) {
            const sentence = `Cannot call the function: ${maxAtOnce} calls of pages are in flight`;
            throw new PlatformError("too_many_calls", sentence, { retryAfterSeconds: 1 });
          }
          const isQueued = headerText(request.headers[tryHeader.queued.toLowerCase()]) === "1";
          const exchange = exchangeOf(request, body, isQueued, hostOf());
          running.add(exchange);
          try {
            reply.raw.once("close", () => exchange.destroy());
            tell(reply, await (isQueued ? calls.queue(exchange, principal) : calls.call(exchange, principal)));
          } finally {
            running.delete(exchange);
          }
        },
    ),
  );
}

/**
 * Only a page's own code can send the header: no link, form or image of a function's page.
 * @throws PlatformError `cross_origin`
 */
export function requirePage({ headers }: Pick<FastifyRequest, "headers">): void {
  if (headerText(headers[tryHeader.page.toLowerCase()]) === "1") return;
  throw new PlatformError("cross_origin", `Cannot answer this request: it has no header ${tryHeader.page}: 1`);
}

function exchangeOf(request: FastifyRequest, body: unknown, isQueued: boolean, host: string): HeldExchange {
  const asked = askedHeaders(headerText(request.headers[tryHeader.headers.toLowerCase()]));
  if (isQueued && request.method !== "POST") {
    throw new PlatformError("validation_failed", `Cannot queue a call with ${request.method}: calls are POSTed`);
  }
  const target = request.originalUrl.slice(tryPrefix.length);
  return new HeldExchange({
    method: request.method,
    url: `${isQueued ? asyncFunctionPrefix : functionPrefix}${target}`,
    headers: ["Host", host, ...asked],
    body: Buffer.isBuffer(body) ? body : Buffer.alloc(0),
    address: request.access.address,
    limit: maxRawBody,
    longest: longestHeld,
  });
}

/** Sends what was said; nothing to a page that is gone. */
export function tell(reply: FastifyReply, replied: HeldReply | undefined): void {
  if (replied === undefined) return void reply.hijack().raw.destroy();
  void reply.headers(toldHeaders(replied)).send(replied.body);
}
