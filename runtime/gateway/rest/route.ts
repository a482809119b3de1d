import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Static, TObject, TSchema } from "typebox";

import type { ErrorCode } from "../../api/platform-error.ts";
import type { AppParts } from "./app-parts.ts";
import type { ServedDocument } from "../openapi/served-document.ts";

/** What a route needs: nothing, or an action that a role must allow; the administrator may do every action. */
export type Needs = "nothing" | `${"Function" | "Secret" | "Namespace" | "Queue" | "System" | "Console"}:${string}`;

/** Routes that belong together in the documents. */
export type RouteGroup =
  | "functions"
  | "secrets"
  | "namespaces"
  | "logs"
  | "queues"
  | "platform"
  | "calls"
  | "asynchronous calls"
  | "identity";

/** Methods of routes; HEAD, PATCH and OPTIONS are declared for function calls only. */
export type RouteMethod = "GET" | "POST" | "PUT" | "DELETE" | "HEAD" | "PATCH" | "OPTIONS";

/** One successful response of a route. */
export interface RouteResponse<A extends TSchema = TSchema> {
  /** `default` = any status, as the function replies. */
  readonly status: number | "default";
  readonly about: string;
  /** Schema of the body; absent = the body is empty. */
  readonly schema?: A;
  /** Media type of the body; `application/json` if absent. */
  readonly type?: string;
  /** Headers by name, each with its description. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** Commands that demonstrate the route in the documents, and their output. */
export interface RouteTrial {
  readonly commands: string;
  /** The output, as `printsAsShown` of the tests compares it: `…` stands for anything. */
  readonly shows: string;
}

/** The description of a route, from which everything else is derived. */
export interface RouteFacts<P extends TObject, Q extends TObject, B extends TSchema, A extends TSchema> {
  /** Name of the operation, for clients generated from the document. */
  readonly id: string;
  readonly group: RouteGroup;
  readonly method: RouteMethod;
  /** Methods that are served in the same way; the document has one operation, of `method`, for all of them. */
  readonly alike?: readonly RouteMethod[];
  /** `:name` stands for one segment, a final `*` for the rest of the path. */
  readonly path: string;
  /** Other spellings of the path; the documents leave them out. */
  readonly also?: readonly string[];
  readonly needs: Needs;
  /** What it does, in one sentence. */
  readonly about: string;
  /** Further details for the OpenAPI document. */
  readonly details?: string;
  readonly params?: P;
  /** Query parameters are text, which `core` parses; the schema says what the text must represent. */
  readonly query?: Q;
  /** Headers that mean something to the platform. */
  readonly headers?: TObject;
  readonly body?: B;
  readonly bodyOptional?: boolean;
  /** Fields of the body that are dropped; every other unknown one is refused. Absent = all unknown ones are dropped. */
  readonly ignoredFields?: readonly string[];
  /** Names of fields, each with the name of the field that is read instead when it is absent. */
  readonly fallbackFields?: Readonly<Record<string, string>>;
  /** `application/json` if absent. */
  readonly bodyType?: string;
  /** The handler's value is sent as the first one. */
  readonly responses: readonly [RouteResponse<A>, ...RouteResponse[]];
  /** Errors besides those of every route of its kind. */
  readonly errors?: readonly ErrorCode[];
  /** Whether HEAD is served where GET is; true if absent. */
  readonly head?: boolean;
  /** Whether the route exists only in editions with IAM. */
  readonly iamOnly?: boolean;
  /** False = not in the documents. */
  readonly documented?: boolean;
  readonly trial?: RouteTrial;
}

/** What the handler of a route receives, typed by its schemas. */
export interface RouteRequest<P extends TObject, Q extends TObject, B extends TSchema> {
  readonly params: Static<P>;
  readonly query: Readonly<Partial<Record<keyof Static<Q>, string>>>;
  readonly body: Static<B>;
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
}

/** The parts for handlers: those of the app, and what the app creates itself. */
export interface RouteParts extends AppParts {
  readonly document: ServedDocument;
}

/** Creates the handler of a route; hooks of `app` end what the handler opened. */
export type OpenHandler = (
  parts: RouteParts,
  app: FastifyInstance,
) => (request: FastifyRequest, reply: FastifyReply) => Promise<unknown>;

/** A route of the table. */
export interface RouteEntry extends RouteFacts<TObject, TObject, TSchema, TSchema> {
  /** `elsewhere` = by the router of function calls; `not built` replies 501. */
  readonly handling: OpenHandler | "elsewhere" | "not built";
}

/** The methods of an entry, that of its operation first. */
export function methodsOf({ method, alike = [] }: Pick<RouteEntry, "method" | "alike">): readonly RouteMethod[] {
  return [method, ...alike];
}

/** A route whose handler receives and returns the types of its schemas. */
export function route<
  P extends TObject = TObject,
  Q extends TObject = TObject,
  B extends TSchema = TSchema,
  A extends TSchema = TSchema,
>(
  facts: RouteFacts<P, Q, B, A>,
  open: (parts: RouteParts, app: FastifyInstance) => (request: RouteRequest<P, Q, B>) => Promise<Static<A> | void>,
): RouteEntry {
  const [{ status }] = facts.responses;
  const handling: OpenHandler = (parts, app) => {
    const handle = open(parts, app);
    return async (request, reply) => {
      const value = await handle({
        // Params and body were validated by now; a query is always text.
        params: request.params as Static<P>,
        query: request.query as Partial<Record<keyof Static<Q>, string>>,
        body: request.body as Static<B>,
        request,
        reply,
      });
      if (reply.sent) return reply;
      return reply.code(typeof status === "number" ? status : 200).send(value);
    };
  };
  return { ...facts, handling };
}

/** A route of the contract that this version does not have yet: it replies 501. */
export function notBuilt(facts: RouteFacts<TObject, TObject, TSchema, TSchema>): RouteEntry {
  return { ...facts, handling: "not built" };
}

/** A route that the router of function calls serves. */
export function callRoute(facts: RouteFacts<TObject, TObject, TSchema, TSchema>): RouteEntry {
  return { ...facts, handling: "elsewhere" };
}
