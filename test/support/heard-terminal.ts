import { Readable, Writable } from "node:stream";

import type { Terminal } from "../../runtime/cli/terminal.ts";

/** A terminal for commands that run in this process, and what was written to it so far. */
export interface HeardTerminal extends Terminal {
  readonly written: { readonly stdout: string; readonly stderr: string };
}

export interface HeardTerminalOptions extends Partial<Omit<Terminal, "stdin">> {
  /** Standard input; empty by default. */
  readonly input?: string | Readable;
}

/** Nothing of it is a terminal, its environment is empty and its home does not exist, unless the options say so. */
export function heardTerminal({ input = "", ...options }: HeardTerminalOptions = {}): HeardTerminal {
  const written = { stdout: "", stderr: "" };
  const sink = (name: keyof typeof written): Writable =>
    new Writable({
      decodeStrings: false,
      write: (chunk: string | Buffer, _encoding, done) => {
        written[name] += chunk.toString();
        done();
      },
    });
  return {
    stdin: typeof input === "string" ? Readable.from(input === "" ? [] : [Buffer.from(input)]) : input,
    stdout: sink("stdout"),
    stderr: sink("stderr"),
    isTerminal: { stdin: false, stdout: false, stderr: false },
    columns: () => undefined,
    environment: {},
    directory: "/",
    home: "/nonexistent",
    uid: process.getuid?.(),
    signal: new AbortController().signal,
    ...options,
    written,
  };
}
