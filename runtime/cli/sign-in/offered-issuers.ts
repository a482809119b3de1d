import type { SignInIssuer } from "../../api/schemas/iam/sign-in.ts";
import { CliError, usageError } from "../cli-error.ts";
import type { GatewayClient } from "../client/gateway-client.ts";
import { readOne } from "../client/read-reply.ts";
import { signInReply } from "../client/reply-kinds.ts";
import { exitCode } from "../exit-code.ts";
import { noIam } from "../iam/no-iam.ts";

const failure = "Cannot sign in by SSO";

/**
 * The issuers that a gateway offers to the command line, sorted by name.
 * @throws CliError when it offers none
 */
export async function offeredIssuers(gateway: GatewayClient): Promise<readonly SignInIssuer[]> {
  const { weir_sign_in: offered = [] } = await readOne(gateway, "/.well-known/openid-configuration", signInReply, {
    authorized: false,
  }).catch((err: unknown) => {
    if (err instanceof CliError && err.exit === exitCode.notFound) throw noIam(failure);
    throw err;
  });
  if (offered.length > 0) return offered;
  throw new CliError(
    exitCode.credentials,
    `${failure}: no JwtIssuer of this gateway has a login without clientSecretName; the command line can keep no secret of a client`,
  );
}

/**
 * The issuer of this name, else the first.
 * @throws CliError when there is no such one
 */
export function chooseIssuer(offered: readonly SignInIssuer[], name: string | undefined): SignInIssuer {
  const found = name === undefined ? offered[0] : offered.find((each) => each.name === name);
  if (found !== undefined) return found;
  const names = offered.map((each) => `"${each.name}"`).join(", ");
  throw usageError(`Cannot sign in with issuer "${name ?? ""}": this gateway offers ${names}`);
}
