import { accessSync, constants, statSync } from "node:fs";
import { delimiter, resolve } from "node:path";

import { split } from "shlex";

import { FailureError } from "./failure-error.ts";

/** Program and arguments. */
export type Command = readonly [program: string, ...args: string[]];

/**
 * The words of `process`, split by shell-words rules; no shell is involved. In each, `{folder}` is `folder`, if given.
 * @throws FailureError `CannotRun` when there are none, a quotation is not closed, or `path` has no such program
 */
export function readCommand(process: string | undefined, path: string, folder?: string): Command {
  const words = splitWords(process ?? "");
  const [program, ...args] =
    folder === undefined ? words : words.map((word) => word.replaceAll("{folder}", () => folder));
  if (program === undefined || program === "") {
    throw new FailureError(
      "CannotRun",
      "Cannot run the function: it has no process (envProcess, or fprocess in its environment)",
    );
  }
  if (!isProgram(program, path)) {
    throw new FailureError(
      "CannotRun",
      `Cannot run the function: "${program}" is not a program that it can find and execute`,
    );
  }
  return [program, ...args];
}

/** The command after the words of `prefix`. */
export function behind(prefix: string | undefined, command: Command): Command {
  const [program, ...words] = prefix?.split(" ").filter((word) => word !== "") ?? [];
  return program === undefined ? command : [program, ...words, ...command];
}

function splitWords(text: string): string[] {
  try {
    return split(text);
  } catch (err) {
    const reason = err instanceof Error ? err.message : String(err);
    throw new FailureError("CannotRun", `Cannot run the function: its process cannot be split into words: ${reason}`);
  }
}

function isProgram(program: string, path: string): boolean {
  const candidates = program.includes("/")
    ? [resolve(program)]
    : path.split(delimiter).map((folder) => resolve(folder, program));
  return candidates.some((file) => {
    try {
      accessSync(file, constants.X_OK);
      return statSync(file).isFile();
    } catch {
      return false;
    }
  });
}
