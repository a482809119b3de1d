import { Command, Option } from "commander";

/** One flag of a process. */
export interface Flag {
  /** Without `--`. */
  readonly name: string;
  readonly about: string;
  /** What a value is, in words. */
  readonly kind: string;
  readonly fallback: string | undefined;
}

export interface CommandLine {
  readonly name: string;
  readonly about: string;
  readonly version: string;
  readonly flags: readonly Flag[];
}

/**
 * The flags that were given, by name, and `config` if a settings file was. `--help` and `--version` print and end the
 * process with code 0, unknown flags with a sentence and code 1.
 */
export function readCommandLine(
  line: CommandLine,
  argv: readonly string[],
): Readonly<Record<string, string | undefined>> {
  const command = new Command(line.name)
    .description(line.about)
    .version(line.version)
    .helpOption("--help", "show this")
    .allowExcessArguments(false)
    .configureHelp({ sortOptions: false, helpWidth: 120 });
  command.addOption(new Option("--config <file>", "YAML file of settings, keys as below with _ for -"));
  for (const flag of line.flags) {
    const kind = flag.kind.includes(" | ") ? flag.kind.replaceAll(" | ", "|") : flag.kind.replaceAll(/[^a-z]+/gi, "-");
    const fallback = flag.fallback === undefined || flag.fallback === "" ? "" : ` (${flag.fallback})`;
    command.addOption(new Option(`--${flag.name} <${kind}>`, flag.about + fallback));
  }
  command.parse([...argv], { from: "user" });
  const given: Record<string, string> = {};
  for (const [key, value] of Object.entries(command.opts<Record<string, string>>())) {
    given[key.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)] = value;
  }
  return given;
}
