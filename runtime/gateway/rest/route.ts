import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Static, TObject, TSchema } from "typebox";

import type { ErrorCode } from "../../api/platform-error.ts";
import type { AppParts } from "./app-parts.ts";
import type { ServedDocument } from "../openapi/served-document.ts";

/** What a route needs: nothing, or the administrator, who may do every action; the action is what a role must allow. */
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

/** Methods of routes; the last ones only of function calls. */
export type RouteMethod = "GET" | "POST" | "PUT" | "DELETE" | "HEAD" | "PATCH" | "OPTIONS";

/** One way in which a request succeeds. */
export interface Answer<A extends TSchema = TSchema> {
  /** `default` = any status, as the function answers. */
  readonly status: number | "default";
  readonly about: string;
  /** Of the body; absent = it is empty. */
  readonly schema?: A;
  /** Media type of the body; `application/json`. */
  readonly type?: string;
  /** Headers by name, each with a sentence. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** Commands for the documents that show the route, and what they print. */
export interface RouteTrial {
  readonly commands: string;
  /** As `printsAsShown` of the tests reads it: `…` stands for anything. */
  readonly shows: string;
}

/** What is said of a route, once: everything else is made from it. */
export interface RouteFacts<P extends TObject, Q extends TObject, B extends TSchema, A extends TSchema> {
  /** Name of the operation, for clients made from the document. */
  readonly id: string;
  readonly group: RouteGroup;
  readonly method: RouteMethod;
  /** Methods that are served alike; the document has one operation, of `method`, for all of them. */
  readonly alike?: readonly RouteMethod[];
  /** With `:name` for one segment; a final `*` for any rest. */
  readonly path: string;
  /** Other spellings of the path; the documents leave them out. */
  readonly also?: readonly string[];
  readonly needs: Needs;
  /** What it does, one sentence. */
  readonly about: string;
  /** What else is to know, for the OpenAPI document. */
  readonly details?: string;
  readonly params?: P;
  /** Parameters of a query are text, which `core` reads; the schema says what the text must spell. */
  readonly query?: Q;
  /** Headers that mean something to the platform. */
  readonly headers?: TObject;
  readonly body?: B;
  readonly bodyOptional?: boolean;
  /** Fields of the body that are dropped; every other unknown one is refused. Absent = all unknown ones are dropped. */
  readonly ignoredFields?: readonly string[];
  /** Fields that are read from another one when they are absent, by their names. */
  readonly fallbackFields?: Readonly<Record<string, string>>;
  /** `application/json` if absent. */
  readonly bodyType?: string;
  /** The first one is what the handler's value is sent with. */
  readonly answers: readonly [Answer<A>, ...Answer[]];
  /** Errors beside those that every route of its kind may give. */
  readonly errors?: readonly ErrorCode[];
  /** HEAD goes where GET does, unless false. */
  readonly head?: boolean;
  /** Only in editions with IAM; elsewhere there is no such route. */
  readonly iamOnly?: boolean;
  /** False = not in the documents. */
  readonly documented?: boolean;
  readonly trial?: RouteTrial;
}

/** What the handler of a route gets, in the types of its schemas. */
export interface RouteRequest<P extends TObject, Q extends TObject, B extends TSchema> {
  readonly params: Static<P>;
  readonly query: Readonly<Partial<Record<keyof Static<Q>, string>>>;
  readonly body: Static<B>;
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
}

/** The parts a handler is made of: those of the app, and what the app makes itself. */
export interface RouteParts extends AppParts {
  readonly document: ServedDocument;
}

/** Makes the handler of a route; `app` is for what must end with it. */
export type OpenHandler = (
  parts: RouteParts,
  app: FastifyInstance,
) => (request: FastifyRequest, reply: FastifyReply) => Promise<unknown>;

/** A route of the table. */
export interface RouteEntry extends RouteFacts<TObject, TObject, TSchema, TSchema> {
  /** `elsewhere` = by the router of function calls; `not built` answers 501. */
  readonly handling: OpenHandler | "elsewhere" | "not built";
}

/** The methods that an entry names, first the one of its operation. */
export function methodsOf({ method, alike = [] }: Pick<RouteEntry, "method" | "alike">): readonly RouteMethod[] {
  return [method, ...alike];
}

/** A route whose handler gets and gives what its schemas say. */
export function route<
  P extends TObject = TObject,
  Q extends TObject = TObject,
  B extends TSchema = TSchema,
  A extends TSchema = TSchema,
>(
  facts: RouteFacts<P, Q, B, A>,
  open: (parts: RouteParts, app: FastifyInstance) => (request: RouteRequest<P, Q, B>) => Promise<Static<A> | void>,
): RouteEntry {
  const [{ status }] = facts.answers;
  const handling: OpenHandler = (parts, app) => {
    const handle = open(parts, app);
    return async (request, reply) => {
      const value = await handle({
        // Params and body fit their schemas by now; a query is text in any case.
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

/** A route of the contract that this version does not have yet: it answers 501. */
export function notBuilt(facts: RouteFacts<TObject, TObject, TSchema, TSchema>): RouteEntry {
  return { ...facts, handling: "not built" };
}

/** A route that the router of function calls serves. */
export function callRoute(facts: RouteFacts<TObject, TObject, TSchema, TSchema>): RouteEntry {
  return { ...facts, handling: "elsewhere" };
}
