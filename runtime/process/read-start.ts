import { startSettings, type StartedSettings, type StartSources } from "../settings/start-settings.ts";
import type { Settings, Values } from "../settings/setting.ts";
import { readCommandLine, type CommandLine } from "./command-line.ts";
import { readOrExit } from "./read-or-exit.ts";
import { environment, readConfigFile } from "./settings.ts";

/** What a process reads before it opens anything. */
export interface StartReading<S extends Settings> extends Pick<StartSources<Values<S>>, "rules" | "sharedFile"> {
  readonly line: CommandLine;
  readonly settings: S;
  /** The wording of an error, where its message is not meant for a person. */
  readonly tell?: (err: unknown) => string;
}

/** The settings and warnings of this start; problems are reported together and end the process with code 1. */
export function readStart<S extends Settings>(
  { line, settings, rules, sharedFile, tell }: StartReading<S>,
  argv: readonly string[],
): StartedSettings<Values<S>> {
  const typed = readCommandLine(line, argv);
  const sources = { typed, environment: environment(), readFile: readConfigFile, rules, sharedFile };
  return readOrExit(() => startSettings(settings, sources), tell);
}
