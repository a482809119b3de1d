import type { IncomingMessage } from "node:http";

import fastify, {
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  type FastifyServerFactory,
} from "fastify";

import { editions } from "../../api/editions.ts";
import { header } from "../../api/names.ts";
import { PlatformError } from "../../api/platform-error.ts";
import { apiVersion } from "../../api/version.ts";
import { withNearestName } from "../../core/functions/function-not-found.ts";
import { quote } from "../../core/quote.ts";
import type { AppParts } from "./app-parts.ts";
import { addRoutes, checkBuilt } from "./add-routes.ts";
import { endStatus } from "../calls/call-observer.ts";
import { checkBodyHeaders, readJsonBody } from "./json/body-parser.ts";
import { checkOrigin } from "../access/check-origin.ts";
import type { ErrorWriter } from "../error-handler.ts";
import { buildDocument } from "../openapi/build-document.ts";
import { serveDocument } from "../openapi/served-document.ts";
import { withKnownFields } from "./known-fields.ts";
import { lazyValidators } from "./lazy-validators.ts";
import { parseQuery } from "./query.ts";
import { allowedMethods, restRoutes, routeTable } from "./route-table.ts";
import type { RouteEntry } from "./route.ts";

type NotFound = (request: FastifyRequest, reply: FastifyReply) => FastifyReply;

/** Paths with `%` or a dot segment match no route (`security.md` §3). */
const encodedOrDotted = /%|\/\.{1,2}(?:\/|$)/;

/**
 * The REST side of the gateway: everything but `/function/` and `/async-function/`, on the server that `serverFactory`
 * creates. It neither starts nor closes that server; call `ready()` before the first request.
 */
export function buildApp(parts: AppParts, serverFactory: FastifyServerFactory): FastifyInstance {
  const app = fastify({
    serverFactory,
    logger: false,
    return503OnClosing: false,
    // The factory's server replies to malformed requests itself.
    clientErrorHandler: () => {},
    frameworkErrors: (err, request, reply) => void parts.errors.sendError(request, reply, err),
    routerOptions: { querystringParser: parseQuery, maxParamLength: 8_192 },
  });

  app.setValidatorCompiler(lazyValidators());
  app.setSerializerCompiler(() => (data) => JSON.stringify(data));
  // A newline at the end, so that a terminal's prompt begins on its own line.
  app.setReplySerializer((data) => `${JSON.stringify(data)}\n`);
  // A near name may be suggested: only the administrator, who may list all functions, gets as far as an unknown one.
  app.setErrorHandler((err, request, reply) =>
    parts.errors.sendError(request, reply, withNearestName(err, parts.namesOf)),
  );
  const routes = restRoutes(editions[parts.edition].iam);
  const notFound: NotFound = (request, reply) => sendNotFound(request, reply, parts.errors, routes);
  addRequestChecks(app, parts, notFound);
  addBodyParser(app);
  app.addHook("onResponse", async (request, reply) => {
    const path = request.is404 ? undefined : request.routeOptions.url;
    parts.routes.add(path, request.method, endStatus(reply.raw), reply.elapsedTime);
  });
  app.setNotFoundHandler(notFound);
  addRoutes(app, routes, { ...parts, document: serveDocument(() => buildDocument(routeTable)) });
  return app;
}

/** Checks path, route, credentials, origin and the headers of the body, in the order of contract §1.6. */
function addRequestChecks(app: FastifyInstance, parts: AppParts, notFound: NotFound): void {
  app.addHook("onRequest", async (request, reply) => {
    reply.header("X-Content-Type-Options", "nosniff");
    if (request.originalUrl.startsWith("/system/")) {
      reply.headers({ "Cache-Control": "no-store", [header.apiVersion]: apiVersion });
    }
    // The router would decode `%`, and others would resolve dot segments, and so find a route for a path without one.
    if (encodedOrDotted.test(pathOf(request.originalUrl))) throw routeNotFound(request.originalUrl);
    // Here and not in the not-found handler, which would read the body first.
    if (request.is404) return notFound(request, reply);
    const { entry } = request.routeOptions.config;
    if (entry?.needs !== "nothing") {
      const { clients } = parts.origins;
      const forwarded = request.headers["x-forwarded-for"];
      const address = clients.of(
        request.raw.socket.remoteAddress,
        Array.isArray(forwarded) ? forwarded.join(",") : forwarded,
      );
      parts.auth.check(request.headers.authorization, address);
      checkOrigin(request.headers.origin, parts.origins);
    }
    if (entry !== undefined) checkBuilt(entry);
    if (request.method !== "GET" && request.method !== "HEAD") checkBodyHeaders(request.raw);
    return undefined;
  });
}

/** All bodies are parsed as JSON. */
function addBodyParser(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("*", (_request: FastifyRequest, payload: IncomingMessage) => readJsonBody(payload));
  app.addHook("preValidation", async (request) => {
    const { entry } = request.routeOptions.config;
    if (entry !== undefined) request.body = withKnownFields(request.body, entry);
  });
}

/** Replies 404 if the path has no route, or 405 if its routes do not have this method. */
function sendNotFound(
  request: FastifyRequest,
  reply: FastifyReply,
  errors: ErrorWriter,
  routes: readonly RouteEntry[],
): FastifyReply {
  const path = pathOf(request.originalUrl);
  const methods = allowedMethods(path, routes);
  if (methods.length === 0) return errors.sendError(request, reply, routeNotFound(path));
  const allowed = methods.join(", ");
  const err = new PlatformError("method_not_allowed", `Cannot ${request.method} ${quote(path)}: it allows ${allowed}`);
  return errors.sendError(request, reply, err, { extra: { Allow: allowed } });
}

function routeNotFound(target: string): PlatformError {
  return new PlatformError("route_not_found", `Cannot find route ${quote(pathOf(target))}: it does not exist`);
}

function pathOf(target: string): string {
  return target.split("?", 1)[0] ?? "";
}
