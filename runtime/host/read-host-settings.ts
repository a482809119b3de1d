import { release } from "../api/version.ts";
import type { CommandLine } from "../process/command-line.ts";
import { tlsRule } from "../process/file-rules.ts";
import { trustedAuthoritiesRule } from "../process/files/trusted-authorities.ts";
import { readStart } from "../process/read-start.ts";
import type { StartedSettings } from "../settings/start-settings.ts";
import { warnings } from "./check-settings.ts";
import { hostFlags } from "./flag-groups.ts";
import { failureText } from "./report-failure.ts";
import { hostRules, hostSettings, type HostSettings } from "./settings.ts";

/** The command line of `npm start`. */
export const hostCommandLine: CommandLine = {
  name: "npm start --",
  about:
    "Weir on one machine: gateway, queue, queue-worker and functions in one process, with a NATS server as its child.",
  version: release,
  flags: hostFlags(),
};

/** The settings and warnings of this start; problems are reported together and end the process with code 1. */
export function readHostSettings(argv: readonly string[]): StartedSettings<HostSettings> {
  const rules = [...hostRules, tlsRule, trustedAuthoritiesRule];
  const reading = { line: hostCommandLine, settings: hostSettings, rules, sharedFile: false, tell: failureText };
  const started = readStart(reading, argv);
  const all = [...started.warnings, ...warnings(started.settings)];
  return { ...started, warnings: all.map((warning) => `Warning: ${warning}`) };
}
