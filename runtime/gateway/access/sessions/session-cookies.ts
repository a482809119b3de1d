import { loginCookie, sessionCookie } from "../../../api/names.ts";

/** Cookies by which browsers are recognised. */
export interface CookieNames {
  readonly session: string;
  readonly login: string;
}

/** The names on an origin of https, or of loopback http. */
export function cookieNames(isSecure: boolean): CookieNames {
  const kind = isSecure ? "secure" : "loopback";
  return { session: sessionCookie[kind], login: loginCookie[kind] };
}

/** Paths at which a page of this host could have set a cookie that is sent to the console, besides `/`. */
const otherPaths = ["/system", "/auth", "/ui"] as const;

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

/** `Set-Cookie`s that end cookies of the name that another page of this host set at paths of the console. */
export function endOthers(name: string): readonly string[] {
  return otherPaths.map((path) => cookie(name, "", path, 0, "Strict"));
}

function cookie(name: string, value: string, path: string, seconds: number, sameSite: string): string {
  const secure = name.startsWith("__Host-") ? "; Secure" : "";
  return `${name}=${value}; Path=${path}; Max-Age=${seconds}; HttpOnly${secure}; SameSite=${sameSite}`;
}
