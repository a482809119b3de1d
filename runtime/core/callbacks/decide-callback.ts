import { shortError } from "../calls/call-attempts.ts";
import type { CallbackState, CallbackTry } from "../calls/call-entry.ts";
import { deepestCallback } from "./callback-headers.ts";
import type { CallbackOutcome } from "../ports/callback-sender.ts";
import { backOff, parseRetryAfter } from "../calls/retry.ts";

/** Durations in milliseconds. */
export interface CallbackTimes {
  readonly minWait: number;
  readonly maxWait: number;
  /** Counted from the first attempt; none is scheduled after its end. */
  readonly window: number;
}

/**
 * Time after which a callback whose window began at `from` is neither attempted nor recorded any more: the last
 * attempt, with all writes of its outcome, takes at most a lease of `ackWait` milliseconds.
 */
export function callbackUntil(from: number, times: Pick<CallbackTimes, "window">, ackWait: number): number {
  return from + times.window + ackWait;
}

const longestRetryAfter = 300_000;
const isFinal = (status: number) => status >= 400 && status < 500 && ![408, 425, 429].includes(status);

/** What to do after one attempt to send a callback. */
export type CallbackVerdict =
  | { readonly kind: "sent"; readonly status: number }
  | { readonly kind: "retry"; readonly delay: number; readonly status: number | undefined; readonly error: string }
  | { readonly kind: "failed"; readonly status: number | undefined; readonly error: string };

/** Whether a callback at this depth is not sent. */
export function isTooDeep(depth: number): boolean {
  return depth >= deepestCallback;
}

/**
 * Estimated attempts of a callback that is `age` milliseconds old, as if each wait were double the one before: for
 * callbacks whose record, which counts attempts, is gone.
 */
export function attemptsByAge(age: number, times: Pick<CallbackTimes, "minWait">): number {
  return age <= 0 ? 0 : Math.floor(Math.log2(1 + age / times.minWait));
}

/** What became of one attempt; `unsigned`: nothing was sent, as the secret of the signature cannot be used now. */
export type AttemptOutcome = CallbackOutcome | { readonly kind: "unsigned"; readonly error: string };

/** Judges one attempt (contract §4.3): `state` is the callback's state before it. */
export function judgeCallback(
  outcome: AttemptOutcome,
  state: CallbackState,
  now: number,
  times: CallbackTimes,
  random: () => number = Math.random,
): CallbackVerdict {
  switch (outcome.kind) {
    case "forbidden":
      return { kind: "failed", status: undefined, error: outcome.error };
    case "responded": {
      const { status } = outcome;
      if (status >= 200 && status < 300) return { kind: "sent", status };
      if (isFinal(status)) return { kind: "failed", status, error: `answered ${status}` };
      return retry(status, parseRetryAfter(outcome.retryAfter, now), `answered ${status}`);
    }
    case "unreachable":
    case "unsigned":
      return retry(undefined, undefined, outcome.error);
    default:
      return outcome satisfies never;
  }

  function retry(status: number | undefined, after: number | undefined, error: string): CallbackVerdict {
    const delay =
      after === undefined
        ? backOff(times.minWait, times.maxWait, state.attempts, random)
        : Math.min(Math.max(after, times.minWait), longestRetryAfter);
    if (now + delay - (state.first ?? now) > times.window) return { kind: "failed", status, error };
    return { kind: "retry", delay, status, error };
  }
}

/** Newest tries that a record keeps, and the bytes of JSON that the error of each may take. */
const triesKept = 8;
const tryErrorBytes = 48;

/** When an attempt was made. Times are Unix milliseconds; `first` and `until` are those of `CallbackState`. */
export interface CallbackAttemptTimes {
  readonly startedAt: number;
  /** When it was judged. */
  readonly now: number;
  readonly first: number;
  readonly until: number;
}

/** State of a callback after an attempt, with the error and the time of the next attempt. */
export function callbackAfter(
  before: CallbackState,
  verdict: CallbackVerdict,
  { startedAt, now, first, until }: CallbackAttemptTimes,
): CallbackState {
  const last: CallbackTry = {
    number: before.attempts + 1,
    at: startedAt,
    ms: Math.max(0, now - startedAt),
    ...withStatus(verdict.status),
    ...(verdict.kind === "sent" ? {} : { error: shortError(verdict.error, tryErrorBytes) }),
  };
  return {
    url: before.url,
    state: verdict.kind === "retry" ? "pending" : verdict.kind,
    attempts: before.attempts + 1,
    first,
    until,
    // Without a response, the last status received is kept.
    ...withStatus(verdict.status ?? before.status),
    ...(verdict.kind === "sent" ? {} : { error: shortError(verdict.error) }),
    ...(verdict.kind === "retry" ? { next: now + verdict.delay } : {}),
    tries: [...(before.tries ?? []), last].slice(-triesKept),
  };
}

function withStatus(status: number | undefined): Pick<CallbackState, "status"> {
  return status === undefined ? {} : { status };
}
