import { loginCookie, sessionCookie } from "../../api/names.ts";

const names: ReadonlySet<string> = new Set([...Object.values(sessionCookie), ...Object.values(loginCookie)]);
/** In each of the names. */
const common = "weir";

/**
 * A `Cookie` header without the platform's own: cookies do not know ports, so browsers send them to functions, too.
 * Undefined when nothing is left.
 */
export function withoutSessionCookies(value: string): string | undefined {
  if (!value.includes(common)) return value;
  const pairs = value.split(";");
  const kept = pairs.filter((pair) => !names.has(nameOf(pair)));
  if (kept.length === pairs.length) return value;
  const left = kept.join(";").trim();
  return left === "" ? undefined : left;
}

/** Whether a `Set-Cookie` header would be sent back as one of the platform's own cookies. */
export function setsSessionCookie(value: string): boolean {
  // A cookie without a name is sent as its value alone, which may look like a pair.
  return value.includes(common) && names.has(nameOf((value.split(";", 1)[0] ?? "").replace(/^[\s=]+/, "")));
}

function nameOf(pair: string): string {
  return (pair.split("=", 1)[0] ?? "").trim();
}
