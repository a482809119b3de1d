import { flagsOf, startSettings } from "../api/read-settings.ts";
import { release } from "../api/version.ts";
import { readCommandLine } from "../process/command-line.ts";
import { environment, readConfigFile } from "../process/settings.ts";
import { checkSettings } from "./check-settings.ts";
import { failureText } from "./report-failure.ts";
import { hostSettings, type HostSettings } from "./settings.ts";

const about =
  "Weir on one machine: gateway, queue, queue-worker and functions in one process, with a NATS server as its child.";

/** The settings of this start; all that is wrong with them is said at once and ends the process with code 1. */
export function readHostSettings(argv: readonly string[]): HostSettings {
  const flags = readCommandLine({ name: "npm start --", about, version: release, flags: flagsOf(hostSettings) }, argv);
  try {
    const settings = startSettings(hostSettings, { flags, environment: environment(), readFile: readConfigFile }, true);
    checkSettings(settings);
    return settings;
  } catch (err) {
    process.stderr.write(`${failureText(err)}\n`);
    return process.exit(1);
  }
}
