import { exitCode, type ExitCode } from "./exit-code.ts";

export interface CliErrorOptions extends ErrorOptions {
  /** One command that helps, printed as `Try: <command>`. */
  readonly hint?: string | undefined;
  /** `code` of the problem details, if a gateway refused (contract §1.7). */
  readonly code?: string | undefined;
}

/** Ends the command: its sentence goes to stderr, its number is the exit code. */
export class CliError extends Error {
  override readonly name = "CliError";
  readonly exit: ExitCode;
  readonly hint: string | undefined;
  readonly code: string | undefined;

  constructor(exit: ExitCode, sentence: string, { hint, code, cause }: CliErrorOptions = {}) {
    super(sentence, cause === undefined ? {} : { cause });
    this.exit = exit;
    this.hint = hint;
    this.code = code;
  }
}

/** A mistake on the command line or in a file: exit code 2. */
export function usageError(sentence: string, hint?: string): CliError {
  return new CliError(exitCode.usage, sentence, { hint });
}
