import { confirm, isCancel, password, text } from "@clack/prompts";

import { CliError } from "../cli-error.ts";
import { exitCode } from "../exit-code.ts";

/** Questions go to stderr, so that stdout stays the result. */
const stream = { output: process.stderr };

/**
 * Asks yes or no.
 * @throws CliError when the answer is no, or at Ctrl-C
 */
export async function askToConfirm(message: string): Promise<void> {
  const answer = await confirm({ message, initialValue: false, ...stream });
  if (isCancel(answer)) throw interrupted();
  if (!answer) throw new CliError(exitCode.failed, "Nothing was done");
}

/** A line that is shown as it is typed. */
export async function askText(message: string, initialValue?: string): Promise<string> {
  const answer = await text({ message, ...(initialValue === undefined ? {} : { initialValue }), ...stream });
  if (isCancel(answer)) throw interrupted();
  return answer;
}

/** A line that is not shown. */
export async function askSecret(message: string): Promise<string> {
  const answer = await password({ message, ...stream });
  if (isCancel(answer)) throw interrupted();
  return answer;
}

function interrupted(): CliError {
  return new CliError(exitCode.interrupted, "Interrupted");
}
