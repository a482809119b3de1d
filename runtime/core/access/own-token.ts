/** Header member `typ` of the tokens that this gateway issues. */
const ownType = /^weir-/i;
const bearer = /^bearer +([A-Za-z0-9_-]+)\.([A-Za-z0-9_-]+)\.[A-Za-z0-9_-]*$/i;
/** Characters; longer values are not tokens of ours (`security.md` §4). */
const maxLength = 16_384;

/**
 * Whether the value of `Authorization` holds a token that this gateway issued, by the token's own claims: its `iss` is
 * `issuer` or below it, or its `typ` is one of ours. Nothing is verified: a caller that withholds such tokens from
 * others need not know whether they are valid.
 */
export function isOwnToken(authorization: string, issuer: string | undefined): boolean {
  if (authorization.length > maxLength) return false;
  const [, header, payload] = bearer.exec(authorization.trim()) ?? [];
  if (header === undefined || payload === undefined) return false;
  const type = memberOf(header, "typ");
  if (type !== undefined && ownType.test(type)) return true;
  const tokenIssuer = memberOf(payload, "iss");
  return (
    issuer !== undefined &&
    tokenIssuer !== undefined &&
    (tokenIssuer === issuer || tokenIssuer.startsWith(`${issuer}/`))
  );
}

function memberOf(part: string, name: string): string | undefined {
  let value: unknown;
  try {
    value = JSON.parse(Buffer.from(part, "base64url").toString("utf8"));
  } catch {
    // Not JSON, so not a token.
    return undefined;
  }
  if (typeof value !== "object" || value === null) return undefined;
  const member: unknown = Object.getOwnPropertyDescriptor(value, name)?.value;
  return typeof member === "string" ? member : undefined;
}
