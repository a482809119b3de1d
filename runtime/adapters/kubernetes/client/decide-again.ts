import { backOff } from "../../../core/calls/retry.ts";
import type { Refusal } from "./kube-refusal.ts";

/** What became of one attempt to ask the API server something. */
export type Outcome =
  | { readonly kind: "done" }
  | { readonly kind: "refused"; readonly refusal: Refusal }
  /** No answer came. `sent`: the server may have got the request all the same. */
  | { readonly kind: "away"; readonly sent: boolean };

/** How often and how long one request is tried. Times are milliseconds. */
export interface RetryLimits {
  /** With the first. */
  readonly attempts: number;
  /** No attempt begins later than that after the first began. */
  readonly patience: number;
  readonly firstDelay: number;
  readonly longestDelay: number;
}

/** Facts of a request that decide whether it may be sent again. */
export interface AttemptFacts {
  /** From 1 on. */
  readonly attempt: number;
  /** Since the first attempt began. */
  readonly elapsed: number;
  /** Whether to do it twice is to do it once, or whether it can be told afterwards. */
  readonly repeatable: boolean;
}

/** What to do after an attempt: send it again `after` milliseconds, or leave it. */
export type Again = { readonly kind: "again"; readonly after: number } | { readonly kind: "leave" };

/** Refusals that pass: too many requests, and what a server says that is starting, ending or overloaded. */
const passing: ReadonlySet<number> = new Set([429, 500, 502, 503, 504]);

/** Whether the request may have been done although no good answer came. */
export function mayBeDone(outcome: Outcome): boolean {
  if (outcome.kind === "away") return outcome.sent;
  return outcome.kind === "refused" && outcome.refusal.status >= 500;
}

/**
 * Whether a request is tried again, and when: at 0.25, 0.5, 1, … s with jitter and the default limits, not before
 * `Retry-After`, and not at all when that, or the next attempt, would be beyond what may be waited.
 */
export function decideAgain(
  outcome: Outcome,
  { attempt, elapsed, repeatable }: AttemptFacts,
  limits: RetryLimits,
  random: () => number = Math.random,
): Again {
  if (outcome.kind === "done" || attempt >= limits.attempts) return { kind: "leave" };
  if (outcome.kind === "refused" && !passing.has(outcome.refusal.status)) return { kind: "leave" };
  if (mayBeDone(outcome) && !repeatable) return { kind: "leave" };
  const asked = outcome.kind === "refused" ? (outcome.refusal.retryAfter ?? 0) : 0;
  const own = backOff(limits.firstDelay, limits.longestDelay, attempt - 1, random);
  // Those who were told the same time must not all come at the same time.
  const after = asked > own ? Math.round(asked * (1 + 0.1 * random())) : own;
  return elapsed + after > limits.patience ? { kind: "leave" } : { kind: "again", after };
}
