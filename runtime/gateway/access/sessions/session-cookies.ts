import { loginCookie, sessionCookie } from "../../../api/names.ts";

/** Cookies by which browsers are recognised. */
export interface CookieNames {
  readonly session: string;
  readonly login: string;
}

/** Browsers take a cookie whose name begins with it at path `/` only. */
const hostPrefix = "__Host-";

/** The names on an origin of https, or of loopback http. */
export function cookieNames(isSecure: boolean): CookieNames {
  const kind = isSecure ? "secure" : "loopback";
  return { session: sessionCookie[kind], login: loginCookie[kind] };
}

/** Paths at which a page of this host could have set a cookie that is sent to the console, besides `/`. */
const otherPaths = ["/system", "/auth", "/ui"] as const;

/** As much of a request's path as cookies are ended at: without what no cookie's path has, and 8 steps at most. */
const endedSteps = /^(?:\/[!-.0-:<->@-~]{0,127}){0,8}/;

/** The values of all cookies of that name in a `Cookie` header. */
export function cookieValues(header: string | undefined, name: string): readonly string[] {
  if (header === undefined) return [];
  return header.split(";").flatMap((pair) => {
    const [found = "", ...value] = pair.split("=");
    return found.trim() === name ? [value.join("=").trim()] : [];
  });
}

/** `Set-Cookie` for a value that scripts cannot read; a `Lax` one also comes with links from other sites. */
export function setCookie(name: string, value: string, seconds: number, sameSite: "Strict" | "Lax" = "Strict"): string {
  return cookie(name, value, "/", seconds, sameSite);
}

/** `Set-Cookie` that ends the cookie at `/`. */
export function endCookie(name: string): string {
  return cookie(name, "", "/", 0, "Strict");
}

/**
 * `Set-Cookie`s that end cookies of the name that another page of this host set: at paths of the console, and at each
 * step of the path of the request that they came with, whose target this is. The session's own is sent after them:
 * browsers that know no partitions end the one at `/`, too.
 */
export function endOthers(name: string, target: string): readonly string[] {
  const paths = name.startsWith(hostPrefix) ? [] : [...new Set([...otherPaths, ...stepsOf(target)])];
  return [
    ...paths.map((path) => cookie(name, "", path, 0, "Strict")),
    // A partitioned cookie is another one than that without a partition.
    ...["/", ...paths].map((path) => `${cookie(name, "", path, 0, "Strict")}; Secure; Partitioned`),
  ];
}

/** Paths but `/` whose cookies are sent with a request: `/a/b?c` → `/a`, `/a/`, `/a/b`. */
function stepsOf(target: string): readonly string[] {
  const [read = ""] = endedSteps.exec(target) ?? [];
  const steps = [...read.matchAll(/(?!^)\//g)].flatMap(({ index }) => [read.slice(0, index), read.slice(0, index + 1)]);
  return read.length > 1 ? [...new Set([...steps, read])] : [];
}

function cookie(name: string, value: string, path: string, seconds: number, sameSite: string): string {
  const secure = name.startsWith(hostPrefix) ? "; Secure" : "";
  return `${name}=${value}; Path=${path}; Max-Age=${seconds}; HttpOnly${secure}; SameSite=${sameSite}`;
}
