import type { Server } from "node:http";

import type { FastifyPluginAsync, FastifyTypeProvider } from "fastify";
import Type, { type Static, type TSchema } from "typebox";

import type { AppParts } from "./app-parts.ts";

/** Makes the schemas of a route the types of its request. */
export interface SchemaTypes extends FastifyTypeProvider {
  readonly validator: this["schema"] extends TSchema ? Static<this["schema"]> : unknown;
}

/** One concern of the REST API: routes and the parts they need. */
export type RoutePlugin = FastifyPluginAsync<AppParts, Server, SchemaTypes>;

const name = Type.Optional(Type.String({ description: "Namespace; the default one when absent or empty" }));

/** The query that may name a namespace. */
export const NamespaceQuery = Type.Object({ namespace: name });

/** The namespace that a request names, body before query; an empty parameter names none. */
export function namedNamespace(
  query: { readonly namespace?: string },
  body?: { readonly namespace?: string },
): string | undefined {
  return body?.namespace ?? (query.namespace === "" ? undefined : query.namespace);
}
