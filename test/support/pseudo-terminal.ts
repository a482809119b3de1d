import { readFile } from "node:fs/promises";
import { join } from "node:path";

import { spawn } from "@lydell/node-pty";

import { environment } from "../../runtime/process/settings.ts";
import { cliCommand } from "./cli-home.ts";
import { eventually } from "./eventually.ts";

export interface PseudoTerminalOptions {
  /** Home and working directory of the person; files of this module are put there. */
  readonly home: string;
  /** Added to an environment that has only `HOME`, `PATH` and `TERM=xterm`. */
  readonly environment?: Readonly<Record<string, string>>;
  /** Columns; 80 by default. */
  readonly columns?: number;
}

/** How a program in a terminal ended. */
export interface TerminalEnd {
  /** Exit code. */
  readonly code: number;
  /** Everything that the terminal got, with escape codes. */
  readonly output: string;
  /** Whether the terminal is as it was: its modes, and a cursor that is seen. */
  readonly isSane: boolean;
}

/** A program in a terminal of its own, in the hands of a test. */
export interface PseudoTerminal extends AsyncDisposable {
  /** Everything that the terminal got so far, with escape codes. */
  output(): string;
  /** Resolves when text came that was not waited for before. */
  shows(text: string): Promise<void>;
  type(text: string): void;
  resize(columns: number, rows: number): void;
  /** Process id of the program. */
  pid(): Promise<number>;
  end(): Promise<TerminalEnd>;
}

/** A shell stays when Ctrl-C ends the program, and compares the terminal's modes before and after. */
const script = `
trap : INT
stty -g >.terminal-before
sh -c 'echo $$ >.terminal-pid; exec "$@"' sh "$@"
code=$?
stty -g >.terminal-after
exit $code
`;

/** Runs `weir …` in a new terminal. */
export function openPseudoTerminal(args: readonly string[], options: PseudoTerminalOptions): PseudoTerminal {
  return openTerminalOf([...cliCommand, ...args], options);
}

/** Runs a program with its arguments in a new terminal. */
export function openTerminalOf(
  command: readonly string[],
  { home, columns = 80, ...options }: PseudoTerminalOptions,
): PseudoTerminal {
  const terminal = spawn("sh", ["-c", script, "sh", ...command], {
    cwd: home,
    cols: columns,
    rows: 24,
    env: { HOME: home, PATH: environment()["PATH"], TERM: "xterm", ...options.environment },
  });
  let output = "";
  let waitedFor = 0;
  let code: number | undefined;
  terminal.onData((text) => (output += text));
  terminal.onExit(({ exitCode }) => (code = exitCode));
  const file = (name: string): Promise<string> => readFile(join(home, `.terminal-${name}`), "utf8");
  return {
    output: () => output,
    shows: async (text) => {
      const at = await eventually(
        () => {
          const index = output.indexOf(text, waitedFor);
          return index === -1 ? undefined : index + text.length;
        },
        { what: `the terminal to show ${JSON.stringify(text)}; it shows ${JSON.stringify(output)}` },
      );
      waitedFor = at;
    },
    type: (text) => terminal.write(text),
    resize: (width, height) => terminal.resize(width, height),
    pid: async () => Number(await eventually(() => file("pid").catch(() => ""), { what: "the program's process id" })),
    end: async () => {
      const ended = await eventually(() => code, { what: "the program to end" });
      const isSeen = output.lastIndexOf("\u001B[?25l") <= output.lastIndexOf("\u001B[?25h");
      return { code: ended, output, isSane: isSeen && (await file("before")) === (await file("after")) };
    },
    [Symbol.asyncDispose]: async () => {
      if (code === undefined) terminal.kill("SIGKILL");
      await eventually(() => code !== undefined, { what: "the terminal to be closed" });
    },
  };
}
