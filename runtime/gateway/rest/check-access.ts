import type { FastifyInstance, FastifyRequest } from "fastify";

import { PlatformError, type ErrorCode } from "../../api/platform-error.ts";
import { permitted, type Principal } from "../../core/access/principal.ts";
import type { NamespaceRules } from "../../core/namespaces/namespace-rules.ts";
import { AccessDenied, requireAccess } from "../access/access-denied.ts";
import type { AccessObserver, ObservedAccess, StatementOrigin } from "../access/access-observer.ts";
import { endStatus } from "../calls/call-observer.ts";
import type { RequestAccess } from "./request-access.ts";
import type { RouteEntry } from "./route.ts";

/** Errors by which a request is refused because of its sender. */
const refusals: ReadonlySet<ErrorCode> = new Set([
  "credentials_required",
  "credentials_invalid",
  "too_many_logins",
  "cross_origin",
  "forbidden",
]);

/** Status from which on a change may have been made: the client left, or the gateway failed. */
const uncertain = 499;

/**
 * Decides each request before its handler, by its sender and what it concerns; tells `observer` of refusals and of
 * changes once the response was sent.
 */
export function addAccessChecks(app: FastifyInstance, names: NamespaceRules, observer: AccessObserver): void {
  app.addHook("preHandler", async (request) => {
    const { entry } = request.routeOptions.config;
    if (entry !== undefined) decide(request, entry, names);
    request.access.handled = true;
  });
  app.addHook("onResponse", async (request, reply) => {
    const { entry } = request.routeOptions.config;
    if (entry === undefined || entry.needs === "nothing") return;
    observe(request, entry, endStatus(reply.raw), observer);
  });
}

/** Notes that a request failed, if it was refused because of its sender. */
export function noteRefusal(access: RequestAccess | undefined, err: unknown): void {
  if (access === undefined || !(err instanceof PlatformError) || !refusals.has(err.code)) return;
  access.refusal = err.code;
  if (!(err instanceof AccessDenied)) return;
  access.action = err.request.action;
  access.resources = [err.request.resource];
  access.by = undefined;
  access.reported = err.reported;
}

function decide(request: FastifyRequest, entry: RouteEntry, names: NamespaceRules): void {
  const { access } = request;
  if (entry.needs === "nothing" || entry.needs === "credentials" || entry.filters === true) return;
  if (access.principal.grants === "everything") {
    access.by = requireAccess(access.principal, { action: entry.needs, resource: "*" });
    if (changes(entry)) access.resources = legibleResources(request, entry, names);
    return;
  }
  access.resources = resourcesOf(request, entry, names);
  for (const resource of access.resources) access.by = requireEither(access.principal, entry, resource);
}

/** The handler says what is wrong with a request that the administrator sent, in the order of contract §1.6. */
function legibleResources(request: FastifyRequest, entry: RouteEntry, names: NamespaceRules): readonly string[] {
  try {
    return resourcesOf(request, entry, names);
  } catch {
    return [];
  }
}

function requireEither(principal: Principal, { needs, orNeeds }: RouteEntry, resource: string): StatementOrigin {
  const decision = permitted(principal, { action: needs, resource });
  if (decision.allowed) return decision.by;
  const other = orNeeds === undefined ? undefined : permitted(principal, { action: orNeeds, resource });
  if (other?.allowed === true) return other.by;
  throw new AccessDenied(principal, { action: needs, resource }, decision.reported);
}

/** What the request concerns; a request that names nothing concerns the platform. */
function resourcesOf(request: FastifyRequest, entry: RouteEntry, names: NamespaceRules): readonly string[] {
  const resources = entry.resourcesOf?.(request, names) ?? [];
  return resources.length === 0 ? ["*"] : [...new Set(resources)];
}

function observe(request: FastifyRequest, entry: RouteEntry, status: number, observer: AccessObserver): void {
  const { access } = request;
  const changed = access.handled && changes(entry) && (status < 400 || status >= uncertain || access.changed);
  if (access.refusal === undefined && !changed) return;
  const observed: ObservedAccess = {
    principal: access.sender,
    action: access.action ?? (entry.needs === "credentials" ? entry.id : entry.needs),
    resources: access.resources,
    by: access.by,
    reported: access.reported,
    status,
    code: access.refusal,
    address: access.address,
    requestId: request.id,
    callId: undefined,
  };
  if (access.refusal === undefined) observer.changed(observed);
  else observer.refused(observed);
}

function changes({ changes: declared, method }: RouteEntry): boolean {
  return declared ?? method !== "GET";
}
