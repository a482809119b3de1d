import { CliError } from "../cli-error.ts";
import type { GatewayClient } from "../client/gateway-client.ts";
import { isEnding, isSignedIn, type SignedIn } from "../client/gateway-credentials.ts";
import { exitCode } from "../exit-code.ts";
import { storeCredentials, storedCredentials, whileNoOtherSignsIn } from "../gateways/stored-credentials.ts";
import { exchangeForGateway } from "./exchange-for-gateway.ts";
import { openIssuerClient, type IssuerAccess } from "./issuer-client.ts";
import { refreshedTokens } from "./issuer-tokens.ts";

export interface RenewalParts {
  /** File of stored credentials. */
  readonly file: string;
  readonly uid: number | undefined;
  /** Of the gateway that the token is for. */
  readonly gateway: GatewayClient;
  readonly access: IssuerAccess;
}

/**
 * Another token in place of one that ends, stored as that was, by one process at a time.
 * @throws CliError when the person has to sign in again
 */
export async function renewSignIn({ file, uid, gateway, access }: RenewalParts): Promise<SignedIn> {
  const { address } = gateway;
  return whileNoOtherSignsIn(file, async () => {
    const stored = await storedCredentials(file, address, uid);
    if (isSignedIn(stored) && !isEnding(stored)) return stored;
    const refreshToken = isSignedIn(stored) ? stored.signIn.refreshToken : undefined;
    if (!isSignedIn(stored) || refreshToken === undefined) throw signInEnded(address);
    const client = await openIssuerClient(stored.signIn, access);
    try {
      const tokens = await refreshedTokens(client, stored.signIn.issuer, refreshToken);
      // Issuers may take the old one back: the new one must not be lost if the gateway gives no token now.
      if (tokens.refreshToken !== undefined && tokens.refreshToken !== refreshToken) {
        const signIn = { ...stored.signIn, refreshToken: tokens.refreshToken };
        await storeCredentials(file, address, { ...stored, signIn });
      }
      const renewed = await exchangeForGateway(gateway, stored.signIn, tokens);
      await storeCredentials(file, address, renewed);
      return renewed;
    } catch (err) {
      throw err instanceof CliError && err.code === "invalid_grant" ? signInEnded(address, err) : err;
    } finally {
      await client.close();
    }
  });
}

function signInEnded(address: string, cause?: unknown): CliError {
  return new CliError(exitCode.credentials, `Cannot use the sign-in to ${address}: it has ended`, {
    hint: `weir login ${address} --sso`,
    cause,
  });
}
