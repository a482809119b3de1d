import { builderNames } from "../build/builders.ts";
import type { OptionSpec } from "../command-spec.ts";

/** Options of every command that reads the functions of a project. */
export const choiceOptions: readonly OptionSpec[] = [
  { flags: "--only <names...>", about: "only these functions of weir.yaml, separated by commas" },
  { flags: "-f, --file <file>", about: "an OpenFaaS stack file in place of weir.yaml" },
  { flags: "--env-file <file...>", about: "KEY=value lines, for ${KEY} in weir.yaml" },
];

export const builderOption: OptionSpec = {
  flags: "--builder <name>",
  about: "what builds images; by default the first of these that answers",
  choices: builderNames,
};

export const registryOption: OptionSpec = {
  flags: "--registry <address>",
  about: "where images are pushed to, as in ghcr.io/acme; build.registry of weir.yaml by default",
};

export const rolloutOptions: readonly OptionSpec[] = [
  { flags: "--no-wait", about: "do not wait until the functions are ready" },
  { flags: "--dry-run", about: "show what would change, and change nothing" },
];
