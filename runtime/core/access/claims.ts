/** Claims of a verified token, by name. */
export type Claims = Readonly<Record<string, unknown>>;

/** What `sub` of an issued token begins with: the rest is the subject at its issuer (contract §6). */
export const federatedPrefix = "fed:";

/** The issuer of the subject, in an issued token. */
export const federatedIssuer = "fed:iss";

/** The audience of the subject's own token, in an issued token. */
export const federatedAudience = "fed:aud";

/** Names that the platform writes itself in the tokens that it issues. */
export const reservedClaims: ReadonlySet<string> = new Set([
  "iss",
  "sub",
  "aud",
  "exp",
  "iat",
  "nbf",
  "jti",
  "typ",
  "policy",
  "function",
]);

/**
 * The subject's own claims in those of an issued token: `sub` without its prefix, `iss` and `aud` as the subject's
 * issuer wrote them, and what was carried over. Rules see these only.
 */
export function subjectClaims(issued: Claims): Claims {
  const { [federatedIssuer]: iss, [federatedAudience]: aud, ...others } = issued;
  const { sub } = issued;
  const subject = typeof sub === "string" && sub.startsWith(federatedPrefix) ? sub.slice(federatedPrefix.length) : sub;
  const carried = Object.entries(others).filter(([name]) => !reservedClaims.has(name));
  return { ...Object.fromEntries(carried), sub: subject, iss, aud };
}

/**
 * The texts of claim `name`, or of its members if it is a list: texts, numbers and booleans have one, other values none.
 * `members` is the length of a list, and otherwise 1. Only own claims count, whatever their name.
 */
export function claimTexts(
  claims: Claims,
  name: string,
): { readonly texts: readonly string[]; readonly members: number } {
  const value: unknown = Object.getOwnPropertyDescriptor(claims, name)?.value;
  if (Array.isArray(value)) return { texts: value.flatMap((member) => textOf(member)), members: value.length };
  return { texts: textOf(value), members: 1 };
}

function textOf(value: unknown): string[] {
  if (typeof value === "string") return [value];
  return typeof value === "number" || typeof value === "boolean" ? [String(value)] : [];
}
