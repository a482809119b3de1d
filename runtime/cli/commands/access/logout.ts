import type { CommandSpec } from "../../command-spec.ts";
import { namedGateway } from "../../gateways/choose-gateway.ts";
import { configFiles } from "../../gateways/config-directory.ts";
import { removeAllCredentials, storeCredentials } from "../../gateways/stored-credentials.ts";
import { counted } from "../../output/counted.ts";

interface LogoutOptions {
  readonly all?: boolean;
}

/** `weir logout`. */
export const logout: CommandSpec<LogoutOptions> = {
  about: "Removes the credentials that are stored for a gateway, or for all.",
  arguments: [{ name: "[gateway]", about: "address of the gateway; the one that other commands use by default" }],
  options: [{ flags: "--all", about: "remove the credentials of every gateway" }],
  groups: ["gateway", "confirm"],
  examples: [
    { line: "weir logout", about: "From the gateway that other commands use" },
    { line: "weir logout --all --yes", about: "From every gateway, without a question" },
  ],
  run: async (context, { all = false }, [argument]) => {
    const { credentials: file } = configFiles(context.terminal);
    if (all) {
      await context.confirm("Remove the credentials of every gateway?");
      const count = await removeAllCredentials(file);
      context.output.note(`The credentials of ${counted(count, "gateway")} are removed`);
      return;
    }
    const { address } =
      argument === undefined ? await context.chosenGateway() : namedGateway(argument, "the command line");
    const known = await storeCredentials(file, address, undefined);
    context.output.note(known ? `Signed out of ${address}` : `No credentials are stored for ${address}`);
  },
};
