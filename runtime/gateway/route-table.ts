/** What a route needs: nothing, or the administrator, who may do every action; the action is what a role must allow. */
export type Needs = "nothing" | `${"Function" | "Secret" | "Namespace" | "Queue" | "System" | "Console"}:${string}`;

/** One route and method; `built: false` answers 501. */
export interface RouteEntry {
  readonly method: "GET" | "POST" | "PUT" | "DELETE";
  /** With `:name` for one segment; a final `*` for any rest. */
  readonly path: string;
  readonly needs: Needs;
  readonly built: boolean;
}

/**
 * Every route of the gateway but the two invocation routes, which have a router of their own. Nothing can be routed
 * that is not here. HEAD goes where GET does, except for logs.
 */
export const routeTable: readonly RouteEntry[] = [
  route("GET", "/healthz", "nothing"),
  route("GET", "/", "nothing", "not built"),
  route("GET", "/openapi.json", "nothing", "not built"),
  route("GET", "/openapi.yaml", "nothing", "not built"),
  route("GET", "/ui", "nothing", "not built"),
  route("GET", "/ui/*", "Console:Get", "not built"),

  route("GET", "/system/functions", "Function:List"),
  route("POST", "/system/functions", "Function:Create"),
  route("PUT", "/system/functions", "Function:Update"),
  route("DELETE", "/system/functions", "Function:Delete"),
  route("GET", "/system/function/:name", "Function:Get"),
  route("POST", "/system/scale-function/:name", "Function:Scale"),
  route("GET", "/system/logs", "Function:Logs"),
  route("POST", "/system/alert", "Function:Scale", "not built"),

  route("GET", "/system/secrets", "Secret:List"),
  route("POST", "/system/secrets", "Secret:Create"),
  route("PUT", "/system/secrets", "Secret:Update"),
  route("DELETE", "/system/secrets", "Secret:Delete"),

  ...["/system/namespace", "/system/namespaces"].flatMap((base) => [
    ...eitherEnd(base).flatMap((path) => [
      route("GET", path, "Namespace:List"),
      route("POST", path, "Namespace:Create"),
      route("PUT", path, "Namespace:Update"),
      route("DELETE", path, "Namespace:Delete"),
    ]),
    ...eitherEnd(`${base}/:name`).flatMap((path) => [
      route("GET", path, "Namespace:Get"),
      route("POST", path, "Namespace:Create"),
      route("PUT", path, "Namespace:Update"),
      route("DELETE", path, "Namespace:Delete"),
    ]),
  ]),

  route("GET", "/system/queues", "Queue:List", "not built"),
  route("GET", "/system/queue/:name", "Queue:Get", "not built"),
  route("GET", "/system/queue/:name/dead-letters", "Queue:Get", "not built"),
  route("POST", "/system/queue/:name/dead-letters/:id/redrive", "Queue:Redrive", "not built"),
  route("DELETE", "/system/queue/:name/dead-letters/:id", "Queue:Delete", "not built"),

  route("GET", "/system/info", "System:Info"),
];

/** The methods that a path has, for `Allow`; empty when no route has this path. */
export function allowedMethods(path: string): string[] {
  const methods = routeTable.filter((entry) => matches(entry.path, path)).map((entry) => entry.method as string);
  if (methods.includes("GET") && path !== "/system/logs") methods.push("HEAD");
  return [...new Set(methods)].toSorted();
}

function route(method: RouteEntry["method"], path: string, needs: Needs, state?: "not built"): RouteEntry {
  return { method, path, needs, built: state === undefined };
}

function eitherEnd(path: string): string[] {
  return [path, `${path}/`];
}

function matches(pattern: string, path: string): boolean {
  if (pattern.endsWith("*")) return path.startsWith(pattern.slice(0, -1));
  const [wanted, found] = [pattern.split("/"), path.split("/")];
  return (
    wanted.length === found.length &&
    wanted.every((segment, index) => (segment.startsWith(":") ? found[index] !== "" : segment === found[index]))
  );
}
