import { randomUUID } from "node:crypto";
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
import { permitted } from "../../core/access/principal.ts";
import { withNearestName, type NamesOf } from "../../core/functions/function-not-found.ts";
import { quote } from "../../core/quote.ts";
import type { AppParts } from "./app-parts.ts";
import { addRoutes, isForm, isRaw } from "./add-routes.ts";
import { endStatus } from "../calls/call-observer.ts";
import { checkBodyHeaders, readJsonBody } from "./json/body-parser.ts";
import { unobserved } from "../access/access-observer.ts";
import { createAuthenticator } from "../access/authenticator.ts";
import { listAction, resourceOf } from "../access/function-callers.ts";
import { observedExchange } from "../access/observed-exchange.ts";
import { addAccessChecks, noteRefusal } from "./check-access.ts";
import { publicDoor, type Door } from "./door.ts";
import { RequestAccess } from "./request-access.ts";
import type { ErrorWriter } from "../error-handler.ts";
import { buildDocument } from "../openapi/build-document.ts";
import { serveDocument } from "../openapi/served-document.ts";
import { admitFormBody, readFormBody } from "./form-body.ts";
import { withKnownFields } from "./known-fields.ts";
import { lazyValidators } from "./lazy-validators.ts";
import { LogStreams } from "./log-streams.ts";
import { parseQuery } from "./query.ts";
import { admitRawBody, readRawBody } from "../console-port/calls/raw-body.ts";
import { WatchHub } from "../watch/watch-hub.ts";
import { allowedMethods, restRoutes, routeTable } from "./route-table.ts";
import type { RouteEntry } from "./route.ts";

type NotFound = (request: FastifyRequest, reply: FastifyReply) => FastifyReply;

/** Paths with `%` or a dot segment match no route (`security.md` §3). */
const encodedOrDotted = /%|\/\.{1,2}(?:\/|$)/;

/**
 * The REST side of the gateway: everything but `/function/` and `/async-function/`, on the server that `serverFactory`
 * creates; with `consoleDoor`, that of the console's listener. It neither starts nor closes that server; call `ready()`
 * before the first request.
 */
export function buildApp(parts: AppParts, serverFactory: FastifyServerFactory, consoleDoor?: Door): FastifyInstance {
  const {
    observer = unobserved,
    logStreams = new LogStreams({ heartbeat: parts.logHeartbeatPeriod }),
    watch = new WatchHub(parts),
  } = parts;
  const app = fastify({
    serverFactory,
    logger: false,
    genReqId: () => randomUUID(),
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
  app.decorateRequest("access");
  app.setErrorHandler((err, request, reply) => {
    noteRefusal(request.access, err);
    const audience = request.access?.sender === undefined ? "anyone" : "operator";
    return parts.errors.sendError(request, reply, withNearestName(err, namesFor(request, parts)), { audience });
  });
  const door =
    consoleDoor ??
    publicDoor(
      restRoutes(editions[parts.edition].iam),
      createAuthenticator(parts.auth, parts.tokens?.holders),
      parts.origins,
    );
  const { routes } = door;
  const notFound: NotFound = (request, reply) => sendNotFound(request, reply, parts.errors, routes);
  addRequestChecks(app, parts, door, notFound);
  addBodyParser(app);
  addAccessChecks(app, parts.namespaces, observer);
  app.addHook("onResponse", async (request, reply) => {
    const path = request.is404 ? undefined : request.routeOptions.url;
    parts.routes.add(path, request.method, endStatus(reply.raw), reply.elapsedTime);
  });
  app.setNotFoundHandler(notFound);
  // The listeners of a process close together.
  app.addHook("preClose", async () => {
    watch.close();
    logStreams.close();
  });
  const document = serveDocument(() => buildDocument(routeTable));
  addRoutes(app, routes, { ...parts, logStreams, watch, tokens: observedExchange(parts.tokens, observer), document });
  return app;
}

/** Names that may be suggested to the sender: of functions that it may list. */
function namesFor({ access }: FastifyRequest, { namesOf }: AppParts): NamesOf {
  return function* names(namespace) {
    for (const name of namesOf(namespace)) {
      const request = { action: listAction, resource: resourceOf({ namespace, name }) };
      if (permitted(access.principal, request).allowed) yield name;
    }
  };
}

/** Checks path, route, credentials, origin and the headers of the body, in the order of contract §1.6. */
function addRequestChecks(app: FastifyInstance, parts: AppParts, door: Door, notFound: NotFound): void {
  const addressOf = ({ headers, raw }: FastifyRequest): string => {
    const forwarded = headers["x-forwarded-for"];
    return parts.origins.clients.of(
      raw.socket.remoteAddress,
      Array.isArray(forwarded) ? forwarded.join(",") : forwarded,
    );
  };
  app.addHook("onRequest", async (request, reply) => {
    request.access = new RequestAccess(addressOf(request));
    reply.header("X-Content-Type-Options", "nosniff");
    if (request.originalUrl.startsWith("/system/")) {
      reply.headers({ "Cache-Control": "no-store", [header.apiVersion]: apiVersion });
    }
    door.enter(request, reply);
    // The router would decode `%`, and others would resolve dot segments, and so find a route for a path without one.
    const path = pathOf(request.originalUrl);
    if (encodedOrDotted.test(path) && door.passesOn?.(path) !== true) throw routeNotFound(request.originalUrl);
    // Here and not in the not-found handler, which would read the body first.
    if (request.is404) return notFound(request, reply);
    const { entry } = request.routeOptions.config;
    if (entry === undefined) throw routeNotFound(request.originalUrl);
    await door.admit(request, reply, entry);
    if (request.method === "GET" || request.method === "HEAD") return undefined;
    if (isForm(entry)) admitFormBody(request.raw);
    else if (isRaw(entry)) admitRawBody(request.raw);
    else checkBodyHeaders(request.raw);
    return undefined;
  });
}

/** All bodies but forms and those that are passed on are parsed as JSON. */
function addBodyParser(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("*", ({ routeOptions }: FastifyRequest, payload: IncomingMessage) => {
    const { entry } = routeOptions.config;
    if (entry !== undefined && isForm(entry)) return readFormBody(payload);
    return entry !== undefined && isRaw(entry) ? readRawBody(payload) : readJsonBody(payload);
  });
  app.addHook("preValidation", async (request) => {
    const { entry } = request.routeOptions.config;
    if (entry !== undefined && !isForm(entry) && !isRaw(entry)) request.body = withKnownFields(request.body, entry);
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
