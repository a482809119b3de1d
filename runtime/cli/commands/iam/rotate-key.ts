import { join, resolve } from "node:path";

import { signingKeyOverlap, signingKeys, type SigningKeyUse } from "../../../api/iam/signing-keys.ts";
import { CliError, usageError } from "../../cli-error.ts";
import type { CommandContext } from "../../command-context.ts";
import type { CommandSpec } from "../../command-spec.ts";
import { namedErrorMessage } from "../../error-message.ts";
import { exitCode } from "../../exit-code.ts";
import { findLocalWeir } from "../../gateways/local-weir.ts";
import { rotateSigningKey, signingKeyState } from "../../gateways/rotate-signing-key.ts";

interface RotateOptions {
  readonly data?: string;
}

/** `weir iam rotate-key`. */
export const rotateKey: CommandSpec<RotateOptions> = {
  about:
    "Replaces the key that the Weir on this machine signs tokens with, or the one for callbacks. What the key before has signed stays valid, and a Weir that runs takes the new key within a second or so. On a cluster, pulumi up does this.",
  arguments: [{ name: "[key]", about: "what the key signs; tokens by default", choices: Object.keys(signingKeys) }],
  options: [{ flags: "--data <directory>", about: "its data directory; .weir here or above by default" }],
  groups: ["confirm"],
  examples: [
    { line: 'weir iam rotate-key --data "$WEIR_DATA" --yes', about: "Another key for tokens" },
    { line: 'weir iam rotate-key callbacks --data "$WEIR_DATA" --yes', about: "Another key for callbacks" },
  ],
  run: async (context, { data }, [key = "tokens"]) => {
    const use = key as SigningKeyUse;
    const directory = await credentialsDirectory(context, data);
    const refuse = (reason: string): CliError =>
      new CliError(exitCode.failed, `Cannot rotate the key of ${use} in "${directory}": ${reason}`);
    const state = await signingKeyState(directory, use).catch((cause: unknown) => {
      throw refuse(namedErrorMessage(cause));
    });
    if (state === undefined) throw refuse("it is not there; the first start of Weir makes it");
    const { uid } = context.terminal;
    // The Weir of another user could not read the new file.
    if (uid !== undefined && state.owner !== uid) throw refuse("it belongs to another user; do this as that user");
    const neededUntil = state.rotatedAt === undefined ? 0 : state.rotatedAt + signingKeyOverlap;
    if (Date.now() < neededUntil)
      await context.confirm(
        `Rotate the key of ${use} again? What the key before it signed ends now, not at ${new Date(neededUntil).toISOString()}`,
      );
    await rotateSigningKey(directory, use).catch((cause: unknown) => {
      throw refuse(namedErrorMessage(cause));
    });
    context.output.note(`The key of ${use} in "${directory}" is a new one; what the key before it signed stays valid`);
  },
};

async function credentialsDirectory({ terminal }: CommandContext, data: string | undefined): Promise<string> {
  if (data !== undefined) return join(resolve(terminal.directory, data), "credentials");
  const local = await findLocalWeir(terminal.directory, terminal.uid);
  if (local === undefined)
    throw usageError(
      "Cannot find a Weir: there is no .weir of yours here or above; name its data directory with --data",
    );
  return join(local.directory, "credentials");
}
