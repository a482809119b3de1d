import { usageError } from "../../cli-error.ts";
import type { GatewayCredentials } from "../../client/gateway-credentials.ts";
import type { CommandContext } from "../../command-context.ts";
import { flaggedCredentials, type CredentialFlags } from "../../gateways/choose-credentials.ts";

/**
 * The credentials to sign in with: of flags, else of a person who is asked.
 * @throws CliError when neither gives them
 */
export async function loginCredentials(
  { terminal, mayAsk }: CommandContext,
  flags: CredentialFlags,
  address: string,
): Promise<GatewayCredentials> {
  const given = await flaggedCredentials(flags, terminal);
  if (given !== undefined) return given;
  if (!mayAsk)
    throw usageError(
      `Cannot ask for the password of ${address}: there is no terminal; give --password-stdin, --password-file or --token-file`,
    );
  const { askSecret, askText } = await import("../../output/ask.ts");
  const user = flags.user ?? (await askText("User", "admin", terminal.signal));
  return { kind: "basic", user, password: await askSecret(`Password of ${user}`, terminal.signal) };
}
