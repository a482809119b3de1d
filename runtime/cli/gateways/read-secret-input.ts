import { addAbortSignal } from "node:stream";

import { usageError } from "../cli-error.ts";
import { readLimited } from "../client/read-limited.ts";
import type { Terminal } from "../terminal.ts";

/** Longest password or token. */
const mostBytes = 65_536;

/**
 * A password or token from standard input, without the line break at its end.
 * @throws CliError when stdin is a terminal, which would show what is typed, or empty
 */
export async function readSecretInput({ stdin, isTerminal, signal }: Terminal): Promise<string> {
  if (isTerminal.stdin) throw usageError("Cannot read a password: standard input is a terminal; pipe it in");
  const text = (await readLimited(addAbortSignal(signal, stdin), mostBytes, "a password")).replace(/\r?\n$/, "");
  if (text === "") throw usageError("Cannot read a password: standard input is empty");
  return text;
}
