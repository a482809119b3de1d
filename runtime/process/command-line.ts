import { Command, Option } from "commander";

/** One flag of a process. */
export interface Flag {
  /** Without `--`. */
  readonly name: string;
  readonly about: string;
  /** What a value is, in words. */
  readonly kind: string;
  readonly fallback: string | undefined;
  /** Heading under which `--help` shows it. */
  readonly group?: string;
  /** Shown by `--help-all` only. */
  readonly rare?: boolean;
}

export interface CommandLine {
  readonly name: string;
  readonly about: string;
  readonly version: string;
  readonly flags: readonly Flag[];
}

/** The typed command line, sorted; nothing is validated yet, so that all problems can be reported together. */
export interface TypedCommandLine {
  /** By name without `--`, `config` among them if a settings file was given. */
  readonly values: Readonly<Record<string, string | undefined>>;
  /** Names that are not flags, without `--`. */
  readonly unknown: readonly string[];
  /** Flags that need a value and have none, without `--`. */
  readonly withoutValue: readonly string[];
  /** Words that belong to no flag. */
  readonly words: readonly string[];
}

const trueOrFalse = "true or false";

/** The flags that were given. `--help`, `--help-all` and `--version` print and end the process with code 0. */
export function readCommandLine(line: CommandLine, argv: readonly string[]): TypedCommandLine {
  const all = rareFlags(line) > 0 && argv.includes("--help-all");
  const command = commandOf(line, all);
  if (all) command.help();
  command.parse([...argv], { from: "user" });

  const booleans = new Set(line.flags.filter(({ kind }) => kind === trueOrFalse).map(({ name }) => name));
  const values: Record<string, string> = {};
  const withoutValue: string[] = [];
  for (const [key, value] of Object.entries(command.opts<Record<string, string | true>>())) {
    const name = key.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
    if (value !== true) values[name] = value;
    else if (booleans.has(name)) values[name] = "true";
    else withoutValue.push(name);
  }
  return { values, withoutValue, ...sortRest(command.args) };
}

/** What `--help` prints, or `--help-all`. */
export function helpText(line: CommandLine, all: boolean): string {
  let text = "";
  const writeOut = (more: string): void => {
    text += more;
  };
  commandOf(line, all).configureOutput({ writeOut }).outputHelp();
  return text;
}

function commandOf(line: CommandLine, all: boolean): Command {
  const command = new Command(line.name)
    .description(line.about)
    .version(line.version)
    .helpOption("--help", "show this")
    .allowUnknownOption()
    .allowExcessArguments()
    .configureHelp({
      sortOptions: false,
      helpWidth: 120,
      optionTerm: (option) => option.flags.replace("[", "<").replace("]", ">"),
    });
  // Values are optional for commander, so that a missing one is reported together with all other problems.
  command.addOption(new Option("--config [file]", "YAML file of settings, keys as below with _ for -"));
  for (const flag of line.flags) {
    const kind = flag.kind.includes(" | ") ? flag.kind.replaceAll(" | ", "|") : flag.kind.replaceAll(/[^a-z]+/gi, "-");
    const fallback = flag.fallback === undefined || flag.fallback === "" ? "" : ` (${flag.fallback})`;
    const option = new Option(`--${flag.name} [${kind}]`, flag.about + fallback);
    if (flag.group !== undefined) option.helpGroup(flag.group);
    if (flag.rare === true && !all) option.hideHelp();
    command.addOption(option);
  }
  const rare = rareFlags(line);
  if (rare > 0) command.addOption(new Option("--help-all", "show all flags"));
  if (rare > 0 && !all)
    command.addHelpText("after", `\n--help-all shows ${rare} more; docs/reference/settings.md describes all of them.`);
  return command;
}

function rareFlags({ flags }: CommandLine): number {
  return flags.filter(({ rare }) => rare === true).length;
}

/** A word after an unknown flag is taken for its value, which must not be repeated in a message. */
function sortRest(rest: readonly string[]): Pick<TypedCommandLine, "unknown" | "words"> {
  const unknown: string[] = [];
  const words: string[] = [];
  let before: string | undefined;
  for (const word of rest) {
    if (word !== "--" && word.startsWith("-")) unknown.push(word.replace(/^-+/, "").replace(/=.*$/s, ""));
    else if (before === undefined || !before.startsWith("-") || before.includes("=")) words.push(word);
    before = word;
  }
  return { unknown, words };
}
