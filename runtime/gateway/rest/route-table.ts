import { methodsOf, type RouteEntry } from "./route.ts";
import { accessRoutes } from "./routes/access.ts";
import { auditRoute } from "./routes/audit.ts";
import { callRecordRoutes } from "./routes/call-records.ts";
import { callbackKeysRoute } from "./routes/callback-keys.ts";
import { callRoutes } from "./routes/calls.ts";
import { callHistoryRoutes } from "./routes/history/call-history.ts";
import { functionRoutes } from "./routes/functions.ts";
import { identityRoutes } from "./routes/identity.ts";
import { logRoute } from "./routes/logs.ts";
import { namespaceRoutes } from "./routes/namespaces.ts";
import { platformRoutes } from "./routes/platform.ts";
import { queueRoutes } from "./routes/queues.ts";
import { secretRoutes } from "./routes/secrets.ts";
import { sessionListRoutes } from "./routes/sessions.ts";
import { watchRoute } from "./routes/watch.ts";

/**
 * Every route of the gateway. The router, the permissions, the OpenAPI document and the API page are derived from it;
 * nothing else can be routed.
 */
export const routeTable: readonly RouteEntry[] = [
  ...functionRoutes,
  ...callRoutes,
  ...callRecordRoutes,
  ...callHistoryRoutes,
  logRoute,
  ...secretRoutes,
  ...namespaceRoutes,
  ...queueRoutes,
  ...platformRoutes,
  watchRoute,
  ...identityRoutes,
  ...accessRoutes,
  ...sessionListRoutes,
  auditRoute,
  callbackKeysRoute,
];

/** The routes of Fastify's router; those of calls have their own router. */
export function restRoutes(withIam: boolean): readonly RouteEntry[] {
  return routeTable.filter(({ handling, iamOnly }) => handling !== "elsewhere" && (withIam || iamOnly !== true));
}

/** Every spelling of a route's path. */
export function pathsOf({ path, also = [] }: RouteEntry): readonly string[] {
  return [path, ...also];
}

/** The methods that a path has among `routes`, for `Allow`; empty when no route has this path. */
export function allowedMethods(path: string, routes: readonly RouteEntry[]): string[] {
  const found = routes.filter((entry) => pathsOf(entry).some((pattern) => matches(pattern, path)));
  const methods = found.flatMap<string>((entry) =>
    entry.method === "GET" && entry.head !== false ? ["GET", "HEAD"] : methodsOf(entry),
  );
  return [...new Set(methods)].toSorted();
}

function matches(pattern: string, path: string): boolean {
  const [wanted, found] = [pattern.split("/"), path.split("/")];
  const isOpen = wanted.at(-1) === "*";
  if (isOpen) wanted.pop();
  return (
    (isOpen ? wanted.length < found.length : wanted.length === found.length) &&
    wanted.every((segment, index) => (segment.startsWith(":") ? found[index] !== "" : segment === found[index]))
  );
}
