import type { FastifyInstance } from "fastify";
import Type, { type TSchema } from "typebox";

import { PlatformError } from "../../api/platform-error.ts";
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
      ...(entry.body === undefined ? {} : { body: bodySchema(entry.body, entry.bodyOptional) }),
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

/**
 * Refuses a request to a route that this version does not have, before its body is read.
 * @throws PlatformError `not_built`
 */
export function checkBuilt({ handling, method, path }: RouteEntry): void {
  if (handling !== "not built") return;
  throw new PlatformError("not_built", `Cannot answer ${method} ${path}: it is not built yet`);
}

function openHandler(entry: RouteEntry, parts: RouteParts, app: FastifyInstance) {
  const { handling } = entry;
  if (typeof handling === "function") return handling(parts, app);
  return async () => checkBuilt(entry);
}

/** An empty body reaches the schema as null. */
function bodySchema(body: TSchema, optional = false): TSchema {
  return optional ? Type.Union([body, Type.Null()]) : body;
}
