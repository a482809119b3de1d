import { mkdir } from "node:fs/promises";
import { join } from "node:path";

import { isSignedIn, type SignedIn } from "../../runtime/cli/client/gateway-credentials.ts";
import { storeCredentials, storedCredentials } from "../../runtime/cli/gateways/stored-credentials.ts";
import { runCli } from "../../runtime/cli/run-cli.ts";
import { eventually } from "./eventually.ts";
import { heardTerminal } from "./heard-terminal.ts";
import { tempDirectory } from "./temp-directory.ts";

/** How a command ended, and what it wrote. */
export interface SignInCommandEnd {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** The command `weir` of a person with a home of their own, who uses one gateway. */
export interface SignInCommand extends AsyncDisposable {
  run(...args: readonly string[]): Promise<SignInCommandEnd>;
  /** Begins a login; resolves with the address that it shows, and its end. Rejects when it ends without one. */
  login(flag: "--sso" | "--device"): Promise<{ readonly address: string; readonly ended: Promise<SignInCommandEnd> }>;
  /** What the person's sign-in left in the home. */
  stored(): Promise<SignedIn | undefined>;
  /** Makes the stored token one that ends now. */
  endToken(signedIn: SignedIn): Promise<void>;
}

/** The address of a whole sign-in, without a code to type. */
const shownAddress = { "--sso": /http:\S+\/auth\?\S+/, "--device": /http:\S+\/device\?user_code=\S+/ } as const;

/** Makes the home. */
export async function openSignInCommand(gateway: string): Promise<SignInCommand> {
  const { path: home, remove } = await tempDirectory("sign-in-home");
  await mkdir(join(home, ".config"));
  const file = join(home, ".config", "weir", "credentials.yaml");
  const begin = (args: readonly string[]) => {
    const terminal = heardTerminal({ home, directory: home });
    const ended = runCli([...args, "--gateway", gateway], terminal).then((code) => ({ code, ...terminal.written }));
    return { terminal, ended };
  };
  return {
    run: (...args) => begin(args).ended,
    async login(flag) {
      const { terminal, ended } = begin(["login", flag]);
      let early: SignInCommandEnd | undefined;
      void ended.then((end) => (early = end));
      const address = await eventually(() => shownAddress[flag].exec(terminal.written.stderr)?.[0] ?? early, {
        what: "the address of a page to sign in",
      });
      if (typeof address !== "string") throw new Error(`The command ended with ${address.code}: ${address.stderr}`);
      return { address, ended };
    },
    async stored() {
      const found = await storedCredentials(file, gateway);
      return isSignedIn(found) ? found : undefined;
    },
    endToken: async (signedIn) => {
      const signIn = { ...signedIn.signIn, expiresAt: new Date(0).toISOString() };
      await storeCredentials(file, gateway, { ...signedIn, signIn });
    },
    [Symbol.asyncDispose]: remove,
  };
}
