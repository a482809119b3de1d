/** What proves to a gateway who calls. */
export type GatewayCredentials =
  | { readonly kind: "basic"; readonly user: string; readonly password: string }
  | { readonly kind: "bearer"; readonly token: string };

/** The value of an `Authorization` header (RFC 7617, RFC 6750). */
export function authorizationOf(credentials: GatewayCredentials): string {
  return credentials.kind === "bearer"
    ? `Bearer ${credentials.token}`
    : `Basic ${Buffer.from(`${credentials.user}:${credentials.password}`).toString("base64")}`;
}
