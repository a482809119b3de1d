import { flagsOf } from "../api/read-settings.ts";
import { startSettings, type StartedSettings } from "../api/start-settings.ts";
import { release } from "../api/version.ts";
import { readCommandLine } from "../process/command-line.ts";
import { tlsRule } from "../process/file-rules.ts";
import { readOrExit } from "../process/read-or-exit.ts";
import { environment, readConfigFile } from "../process/settings.ts";
import { warnings } from "./check-settings.ts";
import { failureText } from "./report-failure.ts";
import { hostRules, hostSettings, type HostSettings } from "./settings.ts";

const about =
  "Weir on one machine: gateway, queue, queue-worker and functions in one process, with a NATS server as its child.";

/** The settings of this start and its warnings; all that is wrong is said at once and ends the process with code 1. */
export function readHostSettings(argv: readonly string[]): StartedSettings<HostSettings> {
  const typed = readCommandLine({ name: "npm start --", about, version: release, flags: flagsOf(hostSettings) }, argv);
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
