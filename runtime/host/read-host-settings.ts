import { startSettings, type StartedSettings } from "../settings/start-settings.ts";
import { release } from "../api/version.ts";
import { readCommandLine, type CommandLine } from "../process/command-line.ts";
import { tlsRule } from "../process/file-rules.ts";
import { readOrExit } from "../process/read-or-exit.ts";
import { environment, readConfigFile } from "../process/settings.ts";
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

/** The settings of this start and its warnings; all that is wrong is said at once and ends the process with code 1. */
export function readHostSettings(argv: readonly string[]): StartedSettings<HostSettings> {
  const typed = readCommandLine(hostCommandLine, argv);
  const started = readOrExit(
    () =>
      startSettings(hostSettings, {
        typed,
        environment: environment(),
        readFile: readConfigFile,
        rules: [...hostRules, tlsRule],
        sharedFile: false,
      }),
    failureText,
  );
  const all = [...started.warnings, ...warnings(started.settings)];
  return { ...started, warnings: all.map((warning) => `Warning: ${warning}`) };
}
