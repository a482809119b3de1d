import type { SignIn } from "../client/gateway-credentials.ts";
import { openIssuerClient, type IssuerAccess } from "./issuer-client.ts";

/**
 * Asks the issuer of a sign-in to revoke its refresh token (RFC 7009); nothing is done where there is none, or where the
 * issuer knows no revocation.
 * @throws CliError when the issuer cannot be asked, or refuses
 */
export async function revokeSignIn(signIn: SignIn, access: IssuerAccess): Promise<void> {
  const { issuer, refreshToken } = signIn;
  if (refreshToken === undefined) return;
  const client = await openIssuerClient(signIn, access, `Cannot revoke the refresh token at ${issuer}`);
  try {
    if (client.config.serverMetadata().revocation_endpoint === undefined) return;
    const { tokenRevocation } = await import("openid-client");
    await tokenRevocation(client.config, refreshToken, { token_type_hint: "refresh_token" });
  } catch (err) {
    throw client.failure(err);
  } finally {
    await client.close();
  }
}
