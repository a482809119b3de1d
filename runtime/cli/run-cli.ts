import { once } from "node:events";
import { setTimeout as pause } from "node:timers/promises";

import { CommanderError } from "commander";

import { buildProgram, type ProgramStreams } from "./build-program.ts";
import { CliError } from "./cli-error.ts";
import type { CommandEntry } from "./command-spec.ts";
import { commandTree } from "./command-tree.ts";
import { exitCode, type ExitCode } from "./exit-code.ts";
import { openContext } from "./open-context.ts";
import { commonOptions, groupOptions } from "./shared-options.ts";
import { escapeLine, escapeText } from "./output/escape-text.ts";
import type { Terminal } from "./terminal.ts";
import { errorMessage, fileFault } from "./error-message.ts";

/** What the scripts for shells call; no help names it. */
const completionWord = "__complete";
/** Columns of help where there is no terminal. */
const usualColumns = 80;
/** Milliseconds that a command has to end by itself after Ctrl-C. */
const grace = 100;

/** Runs one command line, without the program's name, to its end; resolves to its exit code and never rejects. */
export async function runCli(typed: readonly string[], terminal: Terminal): Promise<ExitCode> {
  const args = withCommandFirst(typed);
  const streams: ProgramStreams = {
    out: (text) => void terminal.stdout.write(text),
    error: (text) => void terminal.stderr.write(text),
    columns: terminal.columns() ?? usualColumns,
  };
  if (args[0] === completionWord) {
    const { complete } = await import("./completion/complete.ts");
    return complete(args.slice(1), terminal);
  }
  const opened: { readonly close: () => Promise<void> }[] = [];
  const { signal } = terminal;
  try {
    const program = buildProgram(
      commandTree,
      async (spec, flags, rest) => {
        const context = openContext(terminal, flags);
        opened.push(context);
        await spec.run(context, flags as never, rest);
      },
      streams,
    );
    await orAborted(program.parseAsync(parsedWords(args), { from: "user" }), signal);
    for (const { close } of opened) await close();
    return signal.aborted ? endOf(signal) : exitCode.done;
  } catch (err) {
    for (const { close } of opened) await close().catch(() => {});
    return report(err, args, terminal);
  }
}

/** The result of `work`; rejects if that is not there soon after the signal, as when it waits for input. */
async function orAborted(work: Promise<unknown>, signal: AbortSignal): Promise<void> {
  const ended = new AbortController();
  const aborted = whenAborted(signal, ended.signal).then(() => pause(grace, undefined, ended));
  try {
    await Promise.race([work, aborted]);
  } finally {
    ended.abort();
    await aborted.catch(() => {});
  }
}

async function whenAborted(signal: AbortSignal, ended: AbortSignal): Promise<void> {
  if (!signal.aborted) await once(signal, "abort", { signal: ended });
}

/** How the command ends after the signal: a terminal that is gone has its own reason, all else is Ctrl-C. */
function endOf({ reason }: AbortSignal): ExitCode {
  return reason instanceof CliError ? reason.exit : exitCode.interrupted;
}

/** The words for the parser: `help secrets create` is the same as `secrets create --help`. */
function parsedWords(args: readonly string[]): string[] {
  if (args[0] === "help") return [...args.slice(1), "--help"];
  const { length } = commandWords(args);
  // The parser takes one of the two for itself when it finds the command.
  return args[length] === "--" ? args.toSpliced(length, 0, "--") : [...args];
}

/** Flags of options that any command may have, and whether a value follows. */
const sharedFlags: ReadonlyMap<string, boolean> = new Map(
  [...commonOptions, ...Object.values(groupOptions).flat()].flatMap(({ flags }) => {
    const [names = ""] = flags.split(" <");
    return names.split(", ").map((name) => [name, flags.includes("<")] as const);
  }),
);

/** `weir -n dev list` is the same as `weir list -n dev`. */
function withCommandFirst(args: readonly string[]): readonly string[] {
  let count = 0;
  while (count < args.length) {
    const [, flag = "", value] = /^(-[^=]*)(=.*)?$/s.exec(args[count] ?? "") ?? [];
    const takesValue = sharedFlags.get(flag);
    if (takesValue === undefined) break;
    count += takesValue && value === undefined ? 2 : 1;
  }
  const rest = args.slice(count);
  const { length } = commandWords(rest);
  return count === 0 || length === 0
    ? args
    : [...rest.slice(0, length), ...args.slice(0, count), ...rest.slice(length)];
}

/** Says on stderr why a command did not succeed. */
function report(err: unknown, args: readonly string[], { stderr, signal }: Terminal): ExitCode {
  if (err instanceof CommanderError) return reportUsage(err, args, stderr);
  if (signal.aborted) return endOf(signal);
  if (err instanceof CliError) {
    if (err.exit !== exitCode.interrupted && err.message !== "") stderr.write(`${escapeText(err.message)}\n`);
    if (err.hint !== undefined) stderr.write(`Try: ${escapeLine(err.hint)}\n`);
    if (args.includes("--debug")) stderr.write(stackOf(err));
    return err.exit;
  }
  const fault = fileFault(err);
  if (fault !== undefined) {
    stderr.write(`${escapeText(fault)}\n`);
    if (args.includes("--debug")) stderr.write(stackOf(err));
    return exitCode.failed;
  }
  stderr.write(`This is a defect of weir: ${escapeText(errorMessage(err))}\n`);
  if (args.includes("--debug")) stderr.write(stackOf(err));
  return exitCode.defect;
}

/** The parser's own errors; it has already written what `--help` and `--version` ask for. */
function reportUsage(
  { exitCode: code, code: kind, message }: CommanderError,
  args: readonly string[],
  stderr: Terminal["stderr"],
): ExitCode {
  if (code === 0) return exitCode.done;
  // A noun without a verb: its help is on stderr already.
  if (kind === "commander.help") return exitCode.usage;
  const line = escapeLine(["weir", ...commandWords(args)].join(" "));
  const reason = message
    .replace(/^error: /, "")
    .replace(/\n\(Did (.*)\)$/, "; did $1")
    // A mistyped flag may have a password behind it.
    .replace(/^(unknown option '-[^=']*)=.*'/, "$1'")
    // So may a word too many be one.
    .replace(/(but got \d+): [^]*$/, "$1");
  stderr.write(`Cannot run "${line}": ${escapeText(reason)}\nTry: ${line} --help\n`);
  return exitCode.usage;
}

/** The words at the start of a command line that name a command. */
function commandWords(args: readonly string[]): readonly string[] {
  const words: string[] = [];
  let entries: readonly CommandEntry[] | undefined = commandTree;
  for (const word of args) {
    const entry: CommandEntry | undefined = entries?.find(
      ({ name, aliases = [] }) => name === word || aliases.includes(word),
    );
    if (entry === undefined) break;
    words.push(entry.name);
    entries = entry.commands;
  }
  return words;
}

function stackOf(err: unknown): string {
  return err instanceof Error ? `${escapeText(err.stack ?? err.message)}\n` : "";
}
