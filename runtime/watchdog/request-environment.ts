import type { IncomingMessage } from "node:http";

/** `Proxy` would become `Http_Proxy`, which many programs take for the address of their own proxy. */
const neverPassed = new Set(["proxy"]);

/**
 * The request as environment variables: `Http_Method`, `Http_Path`, `Http_Query` and `Http_<Header>` for each header,
 * words capitalised and joined by `_`. A header whose name has other characters than letters, digits and `-` is left
 * out, so that no two headers become the same variable.
 */
export function requestEnvironment(request: IncomingMessage): Record<string, string> {
  const target = request.url ?? "/";
  const mark = target.indexOf("?");
  const environment: Record<string, string> = {};
  for (const [name, value] of Object.entries(request.headers)) {
    if (value === undefined || neverPassed.has(name) || !/^[a-z0-9-]+$/.test(name)) continue;
    environment[variableOf(name)] = Array.isArray(value) ? value.join(", ") : value;
  }
  environment["Http_Method"] = request.method ?? "GET";
  environment["Http_Path"] = mark < 0 ? target : target.slice(0, mark);
  environment["Http_Query"] = mark < 0 ? "" : target.slice(mark + 1);
  return environment;
}

function variableOf(headerName: string): string {
  return ["http", ...headerName.split("-")].map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join("_");
}
