/** What our tokens say of themselves in `typ`. */
const ownType = /^weir-/i;
const bearer = /^bearer +([A-Za-z0-9_-]+)\.([A-Za-z0-9_-]+)\.[A-Za-z0-9_-]*$/i;
/** Longer ones are no tokens of ours (`security.md` §4). */
const longest = 16_384;

/**
 * Whether the value of `Authorization` holds a token that this gateway issued, as far as the token says: its `iss` is
 * `issuer` or below it, or its `typ` is one of ours. Nothing is verified: who keeps such a token from others need not know
 * whether it is good.
 */
export function isOwnToken(authorization: string, issuer: string | undefined): boolean {
  if (authorization.length > longest) return false;
  const [, header, payload] = bearer.exec(authorization.trim()) ?? [];
  if (header === undefined || payload === undefined) return false;
  const type = memberOf(header, "typ");
  if (type !== undefined && ownType.test(type)) return true;
  const from = memberOf(payload, "iss");
  return issuer !== undefined && from !== undefined && (from === issuer || from.startsWith(`${issuer}/`));
}

function memberOf(part: string, name: string): string | undefined {
  let value: unknown;
  try {
    value = JSON.parse(Buffer.from(part, "base64url").toString("utf8"));
  } catch {
    // What is no JSON is no token.
    return undefined;
  }
  if (typeof value !== "object" || value === null) return undefined;
  const member: unknown = Object.getOwnPropertyDescriptor(value, name)?.value;
  return typeof member === "string" ? member : undefined;
}
