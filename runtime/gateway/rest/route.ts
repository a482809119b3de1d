import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Static, TObject, TSchema } from "typebox";

import type { ErrorCode } from "../../api/platform-error.ts";
import type { Principal } from "../../core/access/principal.ts";
import type { NamespaceRules } from "../../core/namespaces/namespace-rules.ts";
import type { AppParts } from "./app-parts.ts";
import type { LogStreams } from "./log-streams.ts";
import type { WatchStreams } from "../watch/watch-streams.ts";
import type { ServedDocument } from "../openapi/served-document.ts";

/** An action that a role must allow; the administrator may do every action. */
export type RouteAction = `${"Function" | "Secret" | "Namespace" | "Queue" | "Call" | "Session" | "System"}:${string}`;

/** What a route needs: nothing, credentials of any kind, or an action. */
export type Needs = "nothing" | "credentials" | RouteAction;

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
  | "call history"
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

/** What a request asks for, typed by the schemas of its route. */
export interface RouteInput<P extends TObject, Q extends TObject, B extends TSchema> {
  readonly params: Static<P>;
  readonly query: Readonly<Partial<Record<keyof Static<Q>, string>>>;
  readonly body: Static<B>;
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
  /** Another action that admits a request as `needs` does; the handler finds out which of the two it takes. */
  readonly orNeeds?: RouteAction;
  /**
   * What a request concerns: `namespace:function`, `namespace:*` or `*`; several if all of them are changed. Absent: the
   * platform, `*`.
   */
  readonly resource?: (asked: RouteInput<P, Q, B>, names: NamespaceRules) => string | readonly string[];
  /** Whether the handler itself shows only what its sender may see, and refuses who may see nothing. */
  readonly filters?: boolean;
  /** Whether it changes something; as every method but GET does if absent. */
  readonly changes?: boolean;
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
export interface RouteRequest<P extends TObject, Q extends TObject, B extends TSchema> extends RouteInput<P, Q, B> {
  /** Who sent it. */
  readonly principal: Principal;
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
}

/** The parts for handlers: those of the app, and what the app creates itself. */
export interface RouteParts extends AppParts {
  readonly document: ServedDocument;
  readonly logStreams: LogStreams;
  readonly watch: WatchStreams;
}

/** Creates the handler of a route; hooks of `app` end what the handler opened. */
export type OpenHandler = (
  parts: RouteParts,
  app: FastifyInstance,
) => (request: FastifyRequest, reply: FastifyReply) => Promise<unknown>;

/** A route of the table. */
export interface RouteEntry extends Omit<RouteFacts<TObject, TObject, TSchema, TSchema>, "resource"> {
  /** What a validated request concerns, in real names; absent: the platform. */
  readonly resourcesOf?: ((request: FastifyRequest, names: NamespaceRules) => readonly string[]) | undefined;
  /** `elsewhere` = by the router of function calls. */
  readonly handling: OpenHandler | "elsewhere";
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
  const { resource, ...others } = facts;
  const [{ status }] = facts.responses;
  // Params and body were validated by now; a query is always text.
  const inputOf = ({ params, query, body }: FastifyRequest): RouteInput<P, Q, B> => ({
    params: params as Static<P>,
    query: query as Partial<Record<keyof Static<Q>, string>>,
    body: body as Static<B>,
  });
  const handling: OpenHandler = (parts, app) => {
    const handle = open(parts, app);
    return async (request, reply) => {
      const { principal } = request.access;
      const value = await handle({ ...inputOf(request), principal, request, reply });
      if (reply.sent) return reply;
      return reply.code(typeof status === "number" ? status : 200).send(value);
    };
  };
  if (resource === undefined) return { ...others, handling };
  return { ...others, handling, resourcesOf: (request, names) => [resource(inputOf(request), names)].flat() };
}

type OtherFacts = Omit<RouteFacts<TObject, TObject, TSchema, TSchema>, "resource">;

/** A route that the router of function calls serves. */
export function callRoute(facts: OtherFacts): RouteEntry {
  return { ...facts, handling: "elsewhere" };
}
