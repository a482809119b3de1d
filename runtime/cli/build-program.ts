import { Argument, Command, Option } from "commander";

import { release } from "../api/version.ts";
import { usageError } from "./cli-error.ts";
import type { ArgumentSpec, CommandEntry, CommandSpec, OptionSpec } from "./command-spec.ts";
import { groupOptions, optionsOf, type SharedFlags } from "./shared-options.ts";

/** Runs a command that was read: its words, as in `secrets create`. */
export type RunCommand = (spec: CommandSpec, flags: SharedFlags, args: readonly string[]) => Promise<void>;

/** What happens with the text that the parser writes itself. */
export interface ProgramStreams {
  readonly out: (text: string) => void;
  readonly error: (text: string) => void;
  /** Longest line of help. */
  readonly columns: number;
}

/** Flags that would put a secret into the list of processes, and what is used instead. */
const refusedFlags: Readonly<Record<string, string>> = {
  "--password": "--password-file or --password-stdin",
  "--token": "--token-file or WEIR_TOKEN",
};

/**
 * The command tree for the parser. Only names and summaries are known at first: a command is imported when it is
 * called, or asked for help.
 */
export function buildProgram(entries: readonly CommandEntry[], run: RunCommand, streams: ProgramStreams): Command {
  const program = prepared(new Command("weir"), streams)
    .description("Deploys functions to a Weir gateway, calls them, and shows what happens to their calls.")
    .version(release, "-V, --version", "print the version")
    .usage("<command> [options]");
  for (const entry of entries) program.addCommand(stub(entry, ["weir"], run, streams));
  return program;
}

/** The full command behind an entry, as its help and its completion need it. */
export function commandOf(
  spec: CommandSpec,
  words: readonly string[],
  run: RunCommand,
  streams: ProgramStreams,
): Command {
  const command = prepared(new Command(words.join(" ")), streams).description(spec.about);
  for (const each of spec.arguments ?? []) command.addArgument(argumentOf(each));
  for (const option of optionsOf(spec)) {
    const isShared = spec.groups.includes("gateway") && groupOptions.gateway.includes(option);
    command.addOption(isShared ? optionOf(option).helpGroup("Gateway:") : optionOf(option));
  }
  for (const [flag, instead] of Object.entries(refusedFlags))
    command.addOption(
      new Option(`${flag} [value]`).hideHelp().argParser(() => {
        throw usageError(`Cannot use ${flag}: it would stand in the list of processes; use ${instead}`);
      }),
    );
  const examples = spec.examples.map(({ line, about }) => `  ${line}\n      ${about}\n`);
  if (examples.length > 0) command.addHelpText("after", `\nExamples:\n${examples.join("")}`);
  return command.action(async () => run(spec, command.opts<SharedFlags>(), command.args));
}

/** Stands for a command until it is called. */
function stub(entry: CommandEntry, above: readonly string[], run: RunCommand, streams: ProgramStreams): Command {
  const words = [...above, entry.name];
  const command = prepared(new Command(entry.name), streams)
    .aliases(entry.aliases ?? [])
    .summary(entry.summary)
    .description(`${entry.summary}.`);
  const { load } = entry;
  for (const inner of entry.commands ?? []) command.addCommand(stub(inner, words, run, streams));
  if (load === undefined) return command.usage("<command> [options]");
  return command
    .helpOption(false)
    .allowUnknownOption()
    .passThroughOptions()
    .argument("[words...]")
    .action(async (args: readonly string[]) => {
      const full = commandOf(await load(), words, run, streams);
      await full.parseAsync([...args], { from: "user" });
    });
}

function prepared(command: Command, { out, error, columns }: ProgramStreams): Command {
  return command
    .helpOption("-h, --help", "show this")
    .helpCommand(false)
    .configureHelp({ subcommandTerm: (each) => [each.name(), ...each.aliases()].join(", ") })
    .configureOutput({
      writeOut: out,
      writeErr: error,
      outputError: () => {},
      getOutHelpWidth: () => columns,
      getErrHelpWidth: () => columns,
    })
    .showSuggestionAfterError()
    .enablePositionalOptions()
    .exitOverride();
}

function argumentOf({ name, about, choices }: ArgumentSpec): Argument {
  const argument = new Argument(name, about);
  return choices === undefined ? argument : argument.choices([...choices]);
}

function optionOf({ flags, about, fallback, choices }: OptionSpec): Option {
  const option = new Option(flags, about);
  if (fallback !== undefined) option.default(fallback);
  if (choices !== undefined) option.choices([...choices]);
  else if (option.variadic) {
    // One value each time that it is given; the parser would take all words after it, too.
    option.variadic = false;
    option.argParser((value: string, before: readonly string[] | undefined) => [...(before ?? []), value]);
  }
  return option;
}
