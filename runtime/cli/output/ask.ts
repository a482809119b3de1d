import { confirm, isCancel, password, select, text, updateSettings } from "@clack/prompts";

import { CliError } from "../cli-error.ts";
import { exitCode } from "../exit-code.ts";

// Ctrl-D, which would close the input and leave the question, ends it as Ctrl-C does.
updateSettings({ aliases: { "\u0004": "cancel" } });

/** Questions go to stderr, so that stdout stays the result. */
const stream = { output: process.stderr };

/**
 * Asks yes or no.
 * @throws CliError when the answer is no, and when the signal or Ctrl-C ends the question
 */
export async function askToConfirm(message: string, signal?: AbortSignal): Promise<void> {
  const yes = await answered(confirm({ message, initialValue: false, ...stream, ...(signal && { signal }) }));
  if (!yes) throw new CliError(exitCode.failed, "Nothing was done");
}

/** A line that is shown as it is typed; without any it is `fallback`, which the question shows. */
export async function askText(message: string, fallback?: string, signal?: AbortSignal): Promise<string> {
  const given = fallback === undefined ? {} : { placeholder: fallback, defaultValue: fallback };
  return answered(text({ message, validate: needed(fallback), ...given, ...stream, ...(signal && { signal }) }));
}

/** A line that is not shown, and not empty. */
export async function askSecret(message: string, signal?: AbortSignal): Promise<string> {
  return answered(password({ message, validate: needed(), ...stream, ...(signal && { signal }) }));
}

/** One of a few words. */
export async function askChoice<const Word extends string>(
  message: string,
  words: readonly [Word, ...Word[]],
  signal?: AbortSignal,
): Promise<Word> {
  const options = words.map((word) => ({ value: word as string }));
  const chosen = await answered(select({ message, options, ...stream, ...(signal && { signal }) }));
  return words.find((word) => word === chosen) ?? words[0];
}

function needed(fallback?: string): (value: string | undefined) => string | undefined {
  return (value = "") => (value === "" && fallback === undefined ? "It cannot be empty" : undefined);
}

async function answered<T>(question: Promise<T>): Promise<Exclude<T, symbol>> {
  const answer = await question;
  if (isCancel(answer)) throw new CliError(exitCode.interrupted, "Interrupted");
  return answer as Exclude<T, symbol>;
}
