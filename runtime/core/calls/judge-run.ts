import { header } from "../../api/names.ts";
import type { FailureReason } from "./call-entry.ts";
import { headerValue } from "../headers/header-list.ts";
import type { InvokeOutcome } from "../ports/invoker.ts";
import { parseRetryAfter, retryDelay, type RetryRules } from "./retry.ts";

/** Error of a run whose function is gone. */
export const goneFunction = "the function was deleted";
/** Error of a run that took too long. */
export const timeLimitReached = "the time limit was reached";

/** How a run ended, as the worker saw it. */
export type RunOutcome = InvokeOutcome;

/** The HTTP status of a run: the function's own, or the one that stands for a missing response. */
export function runStatus(outcome: RunOutcome): number {
  switch (outcome.kind) {
    case "responded":
      return outcome.status;
    case "function-gone":
      return 404;
    case "aborted":
      return 499;
    case "unreachable":
      return 502;
    case "no-replica":
      return 503;
    case "timed-out":
      return 504;
    default:
      return outcome satisfies never;
  }
}

/** What a run means for its call. */
export type RunVerdict =
  | { readonly kind: "done"; readonly status: number }
  | { readonly kind: "retry"; readonly status: number; readonly delay: number; readonly error: string | undefined }
  | {
      readonly kind: "failed";
      readonly status: number;
      readonly reason: FailureReason;
      readonly error: string | undefined;
    }
  /** The run was aborted from outside; the code that aborted it decides what follows. */
  | { readonly kind: "none" };

/** Judges a run by the retry rules; `retries` is how many there were before, `now` is in Unix milliseconds. */
export function judgeRun(
  outcome: RunOutcome,
  rules: RetryRules,
  retries: number,
  random: () => number = Math.random,
  now: number = Date.now(),
): RunVerdict {
  switch (outcome.kind) {
    case "aborted":
      return { kind: "none" };
    case "function-gone":
      return {
        kind: "failed",
        status: runStatus(outcome),
        reason: "function_not_found",
        error: goneFunction,
      };
    case "unreachable":
      return retry(runStatus(outcome), outcome.error);
    case "no-replica":
      return retry(runStatus(outcome), outcome.error);
    case "timed-out":
      return retry(runStatus(outcome), timeLimitReached);
    case "responded": {
      const { status, headers } = outcome;
      if (status < 400) return { kind: "done", status };
      const internal = status >= 500 && headerValue(headers, header.internal.toLowerCase()) !== undefined;
      if (!internal && !rules.codes.includes(status))
        return { kind: "failed", status, reason: "rejected", error: undefined };
      const after =
        status === 429 || status === 503 ? parseRetryAfter(headerValue(headers, "retry-after"), now) : undefined;
      return retry(status, undefined, after);
    }
    default:
      return outcome satisfies never;
  }

  function retry(status: number, error: string | undefined, after?: number): RunVerdict {
    if (retries >= rules.attempts) return { kind: "failed", status, reason: "exhausted", error };
    return { kind: "retry", status, delay: retryDelay(rules, retries, after, random), error };
  }
}
