import type { FastifyInstance } from "fastify";
import Type, { type TSchema } from "typebox";

import { formType } from "./form-body.ts";
import { rawType } from "../console-port/calls/raw-body.ts";
import { pathsOf } from "./route-table.ts";
import type { RouteEntry, RouteParts } from "./route.ts";

declare module "fastify" {
  interface FastifyContextConfig {
    /** The entry of the route table; every route has one. */
    entry?: RouteEntry;
  }
}

/** Adds a route for every spelling of every entry, and refuses routes without an entry. */
export function addRoutes(app: FastifyInstance, entries: readonly RouteEntry[], parts: RouteParts): void {
  app.addHook("onRoute", ({ method, url, config }) => {
    if (config?.entry === undefined)
      throw new Error(`Cannot add route "${String(method)} ${url}": it is not in the route table`);
  });
  for (const entry of entries) {
    const handler = openHandler(entry, parts, app);
    const schema = {
      ...(entry.params === undefined ? {} : { params: entry.params }),
      // A form says in its own format what is wrong with it.
      ...(entry.body === undefined || isForm(entry) ? {} : { body: bodySchema(entry.body, entry.bodyOptional) }),
    };
    for (const url of pathsOf(entry)) {
      app.route({
        method: entry.method,
        url,
        schema,
        handler,
        exposeHeadRoute: entry.head !== false,
        config: { entry },
      });
    }
  }
}

function openHandler({ handling, path }: RouteEntry, parts: RouteParts, app: FastifyInstance) {
  if (typeof handling === "function") return handling(parts, app);
  throw new Error(`Cannot add route "${path}": the router of calls serves it`);
}

/** Whether the body of a route is a form; all others are JSON. */
export function isForm({ bodyType }: Pick<RouteEntry, "bodyType">): boolean {
  return bodyType === formType;
}

/** Whether the body of a route reaches its handler as bytes. */
export function isRaw({ bodyType }: Pick<RouteEntry, "bodyType">): boolean {
  return bodyType === rawType;
}

/** An empty body reaches the schema as null. */
function bodySchema(body: TSchema, optional = false): TSchema {
  return optional ? Type.Union([body, Type.Null()]) : body;
}
