import type { Claims } from "../claims.ts";

/** Algorithms of tokens (`security.md` §4): signatures only, each with its own kind of key. */
export const tokenAlgorithms = ["RS256", "PS256", "ES256", "EdDSA"] as const;

export type TokenAlgorithm = (typeof tokenAlgorithms)[number];

/** Longest token that is read, in characters. */
export const longestToken = 16_384;

/** Most levels of a token's claims, which are copied and written again. */
const deepestClaims = 32;
const base64url = /^[A-Za-z0-9_-]+$/;
const utf8 = new TextDecoder("utf-8", { fatal: true });

/** The members of a token's header that count; keys and addresses in it do not. */
export interface TokenHeader {
  readonly alg: TokenAlgorithm;
  readonly kid: string | undefined;
  readonly typ: string | undefined;
}

/** A text read as a token, of which nothing is verified yet. */
export type ParsedToken =
  | { readonly kind: "token"; readonly header: TokenHeader; readonly claims: Claims }
  | { readonly kind: "malformed"; readonly why: string };

/** Reads a token in compact form, and refuses what no valid token has. */
export function parseToken(text: string): ParsedToken {
  const malformed = (why: string): ParsedToken => ({ kind: "malformed", why });
  if (text.length > longestToken) return malformed(`it is longer than ${longestToken} characters`);
  const parts = text.split(".");
  if (parts.length !== 3) return malformed("it does not have three parts");
  const [header, claims, signature] = parts.map(bytesOf);
  if (header === undefined || claims === undefined || signature === undefined) {
    return malformed("its parts are not base64url");
  }
  const [head, body] = [objectIn(header), objectIn(claims)];
  if (head === undefined || body === undefined) return malformed("its header or claims are no JSON object");
  if (!isShallow(body, deepestClaims)) return malformed(`its claims have more than ${deepestClaims} levels`);

  const { alg, kid, typ, crit } = head;
  const known = tokenAlgorithms.find((algorithm) => algorithm === alg);
  if (known === undefined) return malformed(`its alg is none of ${tokenAlgorithms.join(", ")}`);
  if (crit !== undefined) return malformed("its header has crit");
  if (kid !== undefined && typeof kid !== "string") return malformed("its kid is no text");
  if (typ !== undefined && typeof typ !== "string") return malformed("its typ is no text");
  return { kind: "token", header: { alg: known, kid, typ }, claims: body };
}

/** Bytes of canonical base64url: another spelling of the same bytes would be another token with a valid signature. */
function bytesOf(part: string): Buffer | undefined {
  if (!base64url.test(part)) return undefined;
  const bytes = Buffer.from(part, "base64url");
  return bytes.toString("base64url") === part ? bytes : undefined;
}

function objectIn(bytes: Buffer): Record<string, unknown> | undefined {
  let value: unknown;
  try {
    value = JSON.parse(utf8.decode(bytes));
  } catch {
    return undefined;
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  // Without prototype: a header or claim that is absent is absent, whatever its name.
  return Object.assign<Record<string, unknown>, object>(Object.create(null), value);
}

function isShallow(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) return true;
  return levels > 0 && Object.values(value).every((member) => isShallow(member, levels - 1));
}
