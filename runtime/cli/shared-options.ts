import type { CommandSpec, OptionGroup, OptionSpec } from "./command-spec.ts";
import type { CredentialFlags } from "./gateways/choose-credentials.ts";
import type { TlsFiles } from "./client/dispatcher.ts";
import { colourChoices, type ColourChoice } from "./output/colour.ts";
import { outputFormats, type OutputFormat } from "./output/output.ts";

/** Options of every command. */
export const commonOptions: readonly OptionSpec[] = [
  { flags: "-q, --quiet", about: "write nothing to stderr but errors and warnings" },
  { flags: "--no-input", about: "ask nothing, even on a terminal" },
  {
    flags: "--color <when>",
    about: "colour of states, as NO_COLOR and FORCE_COLOR say by default",
    fallback: "auto",
    choices: colourChoices,
  },
  { flags: "--debug", about: "show requests and replies on stderr, without secrets, and the stack of a defect" },
];

/** Options by group; a command has those of the groups that it names. */
export const groupOptions: Readonly<Record<OptionGroup, readonly OptionSpec[]>> = {
  gateway: [
    { flags: "--gateway <address>", about: "address of the gateway" },
    { flags: "--context <name>", about: "a gateway that was stored under this name" },
    { flags: "--user <name>", about: "who signs in, with --password-file or --password-stdin; admin by default" },
    { flags: "--password-file <file>", about: "file with the password" },
    { flags: "--password-stdin", about: "read the password from standard input" },
    { flags: "--token-file <file>", about: "file with a token, instead of user and password" },
    { flags: "--ca-file <file>", about: "PEM file of the authorities that are trusted" },
    { flags: "--cert-file <file>", about: "PEM file of the certificate that this client shows" },
    { flags: "--key-file <file>", about: "PEM file of its key" },
    { flags: "--tls-insecure", about: "accept any certificate" },
    { flags: "--insecure-http", about: "send credentials over http to another machine" },
    { flags: "--timeout <duration>", about: "how long to wait, as in 30s or 2m" },
  ],
  namespace: [{ flags: "-n, --namespace <name>", about: "namespace; the gateway's default one if none is named" }],
  output: [
    { flags: "-o, --output <format>", about: "format of the result", fallback: "table", choices: outputFormats },
  ],
  confirm: [{ flags: "--yes", about: "do not ask for confirmation" }],
};

/** All options of a command, in the order of its help. */
export function optionsOf(spec: Pick<CommandSpec<never>, "options" | "groups">): readonly OptionSpec[] {
  return [...(spec.options ?? []), ...spec.groups.flatMap((group) => groupOptions[group]), ...commonOptions];
}

/** The values of the options above, as the parser names them. */
export interface SharedFlags extends CredentialFlags, TlsFiles {
  readonly gateway?: string;
  readonly context?: string;
  readonly namespace?: string;
  readonly output?: OutputFormat;
  readonly timeout?: string;
  readonly quiet?: boolean;
  readonly color?: ColourChoice;
  /** False with `--no-input`. */
  readonly input?: boolean;
  readonly debug?: boolean;
  readonly yes?: boolean;
  /** `--env-file` of the commands that read `weir.yaml`. */
  readonly envFile?: readonly string[];
}
