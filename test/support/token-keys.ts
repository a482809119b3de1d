import { exportJWK, generateKeyPair, SignJWT, type CryptoKey, type JWK } from "jose";

/** A key of an issuer in a test, and what it publishes of it. */
export interface TokenKey {
  readonly alg: string;
  readonly kid: string;
  readonly privateKey: CryptoKey;
  readonly jwk: JWK;
}

export async function tokenKey(alg = "ES256", kid = `key-${alg}`): Promise<TokenKey> {
  const { publicKey, privateKey } = await generateKeyPair(alg, { extractable: true });
  return { alg, kid, privateKey, jwk: { ...(await exportJWK(publicKey)), kid, alg, use: "sig" } };
}

/** A token of these claims and, beside `alg` and `kid`, header members; one that is undefined is left out. */
export function signToken(
  { alg, kid, privateKey }: TokenKey,
  claims: Readonly<Record<string, unknown>>,
  header: Readonly<Record<string, unknown>> = {},
): Promise<string> {
  const members = Object.entries({ alg, kid, ...header }).filter(([, value]) => value !== undefined);
  const protectedHeader = Object.fromEntries(members) as { alg: string };
  return new SignJWT({ ...claims }).setProtectedHeader(protectedHeader).sign(privateKey);
}

/** One part of a token. */
export function tokenPart(value: unknown): string {
  return Buffer.from(typeof value === "string" ? value : JSON.stringify(value)).toString("base64url");
}

/** The claims of a token, unverified. */
export function claimsOf(token: string): Readonly<Record<string, unknown>> {
  return JSON.parse(Buffer.from(token.split(".")[1] ?? "", "base64url").toString("utf8")) as Record<string, unknown>;
}

/** The header of a token. */
export function headerOf(token: string): Readonly<Record<string, unknown>> {
  return JSON.parse(Buffer.from(token.split(".")[0] ?? "", "base64url").toString("utf8")) as Record<string, unknown>;
}

/** The token with one bit of a part changed: one that counts, not one of its padding. */
export function flipBit(token: string, part: 0 | 1 | 2): string {
  return token
    .split(".")
    .map((text, index) => {
      if (index !== part) return text;
      const bytes = Buffer.from(text, "base64url");
      const last = bytes.length - 1;
      bytes[last - 2] = (bytes[last - 2] ?? 0) ^ 1;
      return bytes.toString("base64url");
    })
    .join(".");
}
