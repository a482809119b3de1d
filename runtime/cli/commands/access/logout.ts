import type { TlsFiles } from "../../client/dispatcher.ts";
import { isSignedIn } from "../../client/gateway-credentials.ts";
import type { CommandContext } from "../../command-context.ts";
import type { CommandSpec } from "../../command-spec.ts";
import { errorMessage } from "../../error-message.ts";
import { namedGateway } from "../../gateways/choose-gateway.ts";
import { configFiles } from "../../gateways/config-directory.ts";
import {
  removeAllCredentials,
  storeCredentials,
  whileNoOtherSignsIn,
  type AddressedCredentials,
} from "../../gateways/stored-credentials.ts";
import { flaggedTls } from "../../open-context.ts";
import { counted } from "../../output/counted.ts";
import type { SharedFlags } from "../../shared-options.ts";

interface LogoutOptions extends SharedFlags {
  readonly all?: boolean;
}

/** `weir logout`. */
export const logout: CommandSpec<LogoutOptions> = {
  about:
    "Removes the credentials that are stored for a gateway, or for all. Of a sign-in by SSO it revokes the refresh token, if the issuer knows how.",
  arguments: [{ name: "[gateway]", about: "address of the gateway; the one that other commands use by default" }],
  options: [{ flags: "--all", about: "remove the credentials of every gateway" }],
  groups: ["gateway", "confirm"],
  examples: [
    { line: "weir logout", about: "From the gateway that other commands use" },
    { line: "weir logout --all --yes", about: "From every gateway, without a question" },
  ],
  run: async (context, options, [argument]) => {
    const { credentials: file } = configFiles(context.terminal);
    const given = flaggedTls(options, context.terminal.directory);
    if (options.all === true) {
      await context.confirm("Remove the credentials of every gateway?");
      const removed = await whileNoOtherSignsIn(file, () => removeAllCredentials(file));
      context.output.note(`The credentials of ${counted(Object.keys(removed).length, "gateway")} are removed`);
      return revoke(context, options, given, removed);
    }
    const gateway = argument === undefined ? await context.chosenGateway() : namedGateway(argument, "the command line");
    const { address } = gateway;
    const before = await whileNoOtherSignsIn(file, () => storeCredentials(file, address, undefined));
    if (before === undefined) return context.output.note(`No credentials are stored for ${address}`);
    context.output.note(`Signed out of ${address}`);
    await revoke(context, options, { ...gateway.context, ...given }, { [address]: before });
  },
};

/** Revokes what was stored, and says where that failed: it is not stored any more in any case. */
async function revoke(
  { output, terminal }: CommandContext,
  { debug }: LogoutOptions,
  tls: TlsFiles,
  removed: AddressedCredentials,
): Promise<void> {
  const { signal, stderr } = terminal;
  const access = { tls, signal, debug: debug === true ? (lines: string) => void stderr.write(lines) : undefined };
  for (const [address, credentials] of Object.entries(removed)) {
    if (!isSignedIn(credentials) || credentials.signIn.refreshToken === undefined) continue;
    const { revokeSignIn } = await import("../../sign-in/revoke-sign-in.ts");
    try {
      await revokeSignIn(credentials.signIn, access);
    } catch (err) {
      if (signal.aborted) throw err;
      output.warn(`${errorMessage(err)}; the refresh token of ${address} stays valid until the issuer ends it`);
    }
  }
}
