import { CommanderError } from "commander";

import { buildProgram, type ProgramStreams } from "./build-program.ts";
import { CliError } from "./cli-error.ts";
import type { CommandEntry } from "./command-spec.ts";
import { commandTree } from "./command-tree.ts";
import { exitCode, type ExitCode } from "./exit-code.ts";
import { openContext } from "./open-context.ts";
import { escapeLine, escapeText } from "./output/escape-text.ts";
import type { Terminal } from "./terminal.ts";

/** Runs one command line, without the program's name, to its end; resolves to its exit code and never rejects. */
export async function runCli(args: readonly string[], terminal: Terminal): Promise<ExitCode> {
  const streams: ProgramStreams = {
    out: (text) => void terminal.stdout.write(text),
    error: (text) => void terminal.stderr.write(text),
  };
  try {
    const program = buildProgram(
      commandTree,
      async (spec, flags, rest) => {
        const context = openContext(terminal, flags);
        try {
          await spec.run(context, flags as never, rest);
        } finally {
          await context.close();
        }
      },
      streams,
    );
    await program.parseAsync(withoutHelpCommand(args), { from: "user" });
    return exitCode.done;
  } catch (err) {
    return report(err, args, terminal);
  }
}

/** `help secrets create` is the same as `secrets create --help`. */
function withoutHelpCommand(args: readonly string[]): string[] {
  return args[0] === "help" ? [...args.slice(1), "--help"] : [...args];
}

/** Says on stderr why a command did not succeed. */
function report(err: unknown, args: readonly string[], { stderr, signal }: Terminal): ExitCode {
  if (err instanceof CommanderError) return reportUsage(err, args, stderr);
  if (signal.aborted) return exitCode.interrupted;
  if (err instanceof CliError) {
    if (err.exit !== exitCode.interrupted && err.message !== "") stderr.write(`${escapeText(err.message)}\n`);
    if (err.hint !== undefined) stderr.write(`Try: ${err.hint}\n`);
    if (args.includes("--debug")) stderr.write(stackOf(err));
    return err.exit;
  }
  stderr.write(`This is a defect of weir: ${err instanceof Error ? err.message : String(err)}\n`);
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
  const reason = escapeText(message.replace(/^error: /, "").replace(/\n\(Did (.*)\)$/, "; did $1"));
  stderr.write(`Cannot run "${line}": ${reason}\nTry: ${line} --help\n`);
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
  return err instanceof Error ? `${err.stack ?? err.message}\n` : "";
}
