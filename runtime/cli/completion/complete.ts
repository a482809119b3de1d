import { Writable } from "node:stream";

import { commandTree } from "../command-tree.ts";
import { exitCode, type ExitCode } from "../exit-code.ts";
import { openContext } from "../open-context.ts";
import type { Terminal } from "../terminal.ts";
import { knownNames } from "./known-names.ts";
import { wantedAt, type Wanted } from "./wanted-at.ts";

/** Milliseconds for the reply of a gateway: whoever types does not wait longer. */
const timeout = 300;

/** A word that can stand at the cursor. */
interface Candidate {
  readonly value: string;
  readonly about: string;
}

/**
 * Prints what can stand at the end of a command line, a line each: the word, a tab, what it is; or `:files`. The line
 * is given as `--line <text>` with the program's name, or as `-- <word…>` without it, the last word being the one at
 * the cursor. What cannot be found out is not printed.
 */
export async function complete(args: readonly string[], terminal: Terminal): Promise<ExitCode> {
  try {
    const words = args[0] === "--line" ? await wordsOf(args[1] ?? "") : args.slice(1);
    const wanted = await wantedAt(commandTree, words);
    const lines = wanted.kind === "files" ? [":files"] : (await candidatesFor(wanted, terminal)).map(lineOf);
    terminal.stdout.write(lines.map((line) => `${line}\n`).join(""));
  } catch {
    // An error in the middle of a line that is typed helps nobody.
  }
  return exitCode.done;
}

/** The words after the program's name; none if a quotation is not ended. */
async function wordsOf(line: string): Promise<readonly string[]> {
  const { split } = await import("shlex");
  const words = split(line).slice(1);
  return /\s$/.test(line) ? [...words, ""] : words;
}

async function candidatesFor(wanted: Exclude<Wanted, { kind: "files" }>, terminal: Terminal): Promise<Candidate[]> {
  switch (wanted.kind) {
    case "words":
      return wanted.words.filter(({ value }) => value.startsWith(wanted.typed));
    case "names": {
      const names = await namesFor(wanted, terminal);
      const all = names.map((name) => ({ value: `${wanted.before}${name}`, about: "" }));
      return all.filter(({ value }) => value.startsWith(wanted.typed));
    }
    default:
      return wanted satisfies never;
  }
}

async function namesFor(
  { names, flags }: Extract<Wanted, { kind: "names" }>,
  terminal: Terminal,
): Promise<readonly string[]> {
  const over = new AbortController();
  const signal = AbortSignal.any([terminal.signal, over.signal]);
  const context = openContext({ ...terminal, stderr: nowhere(), signal }, { ...flags, quiet: true, input: false });
  // What has to be read and loaded here is not the gateway's time.
  if (names !== "context") await context.gateway();
  const timer = setTimeout(() => over.abort(), timeout);
  try {
    return await knownNames(context, names);
  } finally {
    clearTimeout(timer);
    await context.close();
  }
}

function lineOf({ value, about }: Candidate): string {
  return about === "" ? value : `${value}\t${about}`;
}

function nowhere(): Writable {
  return new Writable({ write: (_chunk, _encoding, done) => done() });
}
