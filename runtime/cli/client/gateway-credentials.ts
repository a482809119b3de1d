/** How a token of a gateway was got, so that the next one can be. */
export interface SignIn {
  /** When the token ends, in RFC 3339. */
  readonly expiresAt: string;
  /** Address of the issuer that the person signed in with. */
  readonly issuer: string;
  readonly clientId: string;
  /** Of the issuer; without it, the person has to sign in again. */
  readonly refreshToken?: string;
}

/** What proves to a gateway who calls. */
export type GatewayCredentials =
  | { readonly kind: "basic"; readonly user: string; readonly password: string }
  | {
      readonly kind: "bearer";
      readonly token: string;
      /** Absent for a token that was given. */
      readonly signIn?: SignIn;
    };

/** A token that somebody signed in for. */
export type SignedIn = Extract<GatewayCredentials, { readonly kind: "bearer" }> & { readonly signIn: SignIn };

/** Milliseconds before its end in which a token is not used any more: a request takes some time. */
const margin = 30_000;

/** The value of an `Authorization` header (RFC 7617, RFC 6750). */
export function authorizationOf(credentials: GatewayCredentials): string {
  return credentials.kind === "bearer"
    ? `Bearer ${credentials.token}`
    : `Basic ${Buffer.from(`${credentials.user}:${credentials.password}`).toString("base64")}`;
}

/** Whether it is a token that somebody signed in for. */
export function isSignedIn(credentials: GatewayCredentials | undefined): credentials is SignedIn {
  return credentials?.kind === "bearer" && credentials.signIn !== undefined;
}

/** Whether it is such a token, and another one is needed. */
export function isEnding(credentials: GatewayCredentials | undefined, now = Date.now()): credentials is SignedIn {
  return isSignedIn(credentials) && Date.parse(credentials.signIn.expiresAt) - margin <= now;
}
