import { backOff } from "../../../core/calls/retry.ts";
import type { Refusal } from "./kube-refusal.ts";

/** The outcome of one attempt at a request to the API server. */
export type Outcome =
  | { readonly kind: "done" }
  | { readonly kind: "refused"; readonly refusal: Refusal }
  /** No response came. `sent`: the server may have received the request anyway. */
  | { readonly kind: "away"; readonly sent: boolean };

/** How often and for how long one request is attempted. Times are milliseconds. */
export interface RetryLimits {
  /** Including the first. */
  readonly attempts: number;
  /** No attempt starts later than this after the start of the first. */
  readonly retryWindow: number;
  readonly firstDelay: number;
  readonly longestDelay: number;
}

/** Facts of a request that decide whether it may be sent again. */
export interface AttemptFacts {
  /** Counted from 1. */
  readonly attempt: number;
  /** Since the start of the first attempt. */
  readonly elapsed: number;
  /** Whether the request is idempotent, or the client can tell afterwards whether it took effect. */
  readonly repeatable: boolean;
}

/** What to do after an attempt: send the request again after `after` milliseconds, or give up. */
export type RetryDecision = { readonly kind: "again"; readonly after: number } | { readonly kind: "leave" };

/** Statuses of transient refusals: too many requests, or a server that is starting, stopping or overloaded. */
const transientStatuses: ReadonlySet<number> = new Set([429, 500, 502, 503, 504]);

/** Whether the request may have taken effect although it did not succeed. */
export function mayHaveTakenEffect(outcome: Outcome): boolean {
  if (outcome.kind === "away") return outcome.sent;
  return outcome.kind === "refused" && outcome.refusal.status >= 500;
}

/**
 * Whether and when a request is retried: with the default limits after 0.25, 0.5, 1, … s with jitter, not before
 * `Retry-After`, and not at all when the next attempt would start after `retryWindow`.
 */
export function decideRetry(
  outcome: Outcome,
  { attempt, elapsed, repeatable }: AttemptFacts,
  limits: RetryLimits,
  random: () => number = Math.random,
): RetryDecision {
  if (outcome.kind === "done" || attempt >= limits.attempts) return { kind: "leave" };
  if (outcome.kind === "refused" && !transientStatuses.has(outcome.refusal.status)) return { kind: "leave" };
  if (mayHaveTakenEffect(outcome) && !repeatable) return { kind: "leave" };
  const requestedDelay = outcome.kind === "refused" ? (outcome.refusal.retryAfter ?? 0) : 0;
  const ownDelay = backOff(limits.firstDelay, limits.longestDelay, attempt - 1, random);
  // Jitter: clients that were given the same `Retry-After` must not all return at once.
  const after = requestedDelay > ownDelay ? Math.round(requestedDelay * (1 + 0.1 * random())) : ownDelay;
  return elapsed + after > limits.retryWindow ? { kind: "leave" } : { kind: "again", after };
}
