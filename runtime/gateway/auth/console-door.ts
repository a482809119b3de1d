import type { FastifyReply, FastifyRequest } from "fastify";

import { PlatformError } from "../../api/platform-error.ts";
import { endCookie, endOthers } from "../access/sessions/session-cookies.ts";
import { AmbiguousSessionError, readSession } from "../access/sessions/session-reader.ts";
import { tryPrefix } from "../console-port/calls/try-routes.ts";
import { entryPaths, filesPath } from "../console-port/file-route.ts";
import type { Door } from "../rest/door.ts";
import type { RouteEntry } from "../rest/route.ts";
import { consoleHeaders } from "./console-headers.ts";
import type { ConsoleAccess } from "./console-parts.ts";
import { consoleRequest, headerText } from "./console-request.ts";
import { judgeSender, type SenderKind } from "./judge-sender.ts";

/** Probes ask by address. */
const anyHost = "/healthz";

/** Routes whose senders are not pages of the console, or not only; by path. */
const senderKinds: ReadonlyMap<string, SenderKind> = new Map([
  ["POST /auth/session", "sign-in"],
  ["GET /auth/login", "navigation"],
  ["GET /auth/callback", "open"],
  ["POST /auth/backchannel-logout", "open"],
  ...[filesPath, ...entryPaths].map((path) => [`GET ${path}`, "open"] as const),
]);

/** The door of `console_port`: only its own pages, and programs as at `port`. */
export function consoleDoor(routes: readonly RouteEntry[], access: ConsoleAccess): Door {
  return {
    routes,
    passesOn: (path) => path.startsWith(tryPrefix),
    enter(request, reply) {
      reply.headers(consoleHeaders);
      if (pathOf(request) !== anyHost) consoleRequest(request, access.origins());
    },
    async admit(request, reply, entry) {
      if (entry.path === anyHost) return;
      const { names, proof } = consoleRequest(request, access.origins());
      checkSender(request, entry, proof.cookies.length > 0, access);
      if (entry.needs === "nothing") return;
      const { authorization } = request.headers;
      if (authorization !== undefined || proof.cookies.length === 0) {
        const identify = () => access.authenticator.identify(authorization, request.access.address);
        request.access.sender = await identify();
        request.access.renew = identify;
        return;
      }
      try {
        const read = async () => (await readSession(proof, access.sessions, access.holders)).principal;
        request.access.sender = await read();
        request.access.renew = read;
      } catch (err) {
        if (err instanceof AmbiguousSessionError) endAll(reply, names.session);
        throw err;
      }
    },
  };
}

/** Whether a page sent it, or a browser on its own: it is not told to ask for a password. */
export function isFromBrowser(request: FastifyRequest, access: ConsoleAccess): boolean {
  if (request.headers["sec-fetch-site"] !== undefined) return true;
  const origin = access.origins().ofHost(request.headers.host);
  return origin !== undefined && consoleRequest(request, access.origins()).proof.cookies.length > 0;
}

/** @throws PlatformError `cross_origin` */
function checkSender(
  { headers, method }: FastifyRequest,
  entry: RouteEntry,
  hasCookie: boolean,
  { origins }: ConsoleAccess,
): void {
  const kind = senderKinds.get(`${entry.method} ${entry.path}`) ?? "other";
  const fetchSite = headerText(headers["sec-fetch-site"]);
  const why = judgeSender({ kind, method, hasCookie, fetchSite, origin: headers.origin }, (origin) =>
    origins().has(origin),
  );
  if (why !== undefined) throw new PlatformError("cross_origin", `Cannot answer this request: ${why}`);
}

function endAll(reply: FastifyReply, name: string): void {
  reply.header("Set-Cookie", [endCookie(name), ...endOthers(name, reply.request.originalUrl)]);
}

function pathOf({ originalUrl }: FastifyRequest): string {
  return originalUrl.split("?", 1)[0] ?? "";
}
