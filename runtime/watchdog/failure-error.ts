import { SettingsError } from "../settings/read-settings.ts";
import type { Failure } from "./parent.ts";

/** The function cannot be served: a CamelCase `reason` and a sentence. */
export class FailureError extends Error {
  override readonly name = "FailureError";
  readonly reason: string;

  constructor(reason: string, sentence: string) {
    super(sentence);
    this.reason = reason;
  }
}

/** The failure to report for an error that keeps the function from being served; with the stack if it is unexpected. */
export function watchdogFailure(err: unknown): Failure {
  const expected = err instanceof FailureError || err instanceof SettingsError;
  const message = err instanceof Error ? (expected ? err.message : (err.stack ?? err.message)) : String(err);
  return { reason: err instanceof FailureError ? err.reason : "CannotRun", message };
}
