import { shortError } from "../calls/call-attempts.ts";
import type { CallbackState } from "../calls/call-entry.ts";
import { deepestCallback } from "./callback-headers.ts";
import type { CallbackOutcome } from "../ports/callback-sender.ts";
import { backOff, parseRetryAfter } from "../calls/retry.ts";

/** Durations in milliseconds. */
export interface CallbackTimes {
  readonly minWait: number;
  readonly maxWait: number;
  /** From the first attempt on. */
  readonly window: number;
}

/**
 * When nothing is heard any more of a callback whose window began at `from`: its last attempt took a lease of `ackWait`
 * milliseconds at most, with all that is written of it.
 */
export function callbackUntil(from: number, times: Pick<CallbackTimes, "window">, ackWait: number): number {
  return from + times.window + ackWait;
}

const longestRetryAfter = 300_000;
const finalStatuses = (status: number) => status >= 400 && status < 500 && ![408, 425, 429].includes(status);

/** What follows from one attempt to send a callback. */
export type CallbackVerdict =
  | { readonly kind: "sent"; readonly status: number }
  | { readonly kind: "retry"; readonly delay: number; readonly status: number | undefined; readonly error: string }
  | { readonly kind: "failed"; readonly status: number | undefined; readonly error: string };

/** Whether a callback of this depth is sent at all. */
export function isTooDeep(depth: number): boolean {
  return depth >= deepestCallback;
}

/**
 * How often a callback has been tried that is `age` milliseconds old, if each wait was double the one before: for those
 * whose record, which counts, is gone.
 */
export function attemptsByAge(age: number, times: Pick<CallbackTimes, "minWait">): number {
  return age <= 0 ? 0 : Math.floor(Math.log2(1 + age / times.minWait));
}

/** Judges one attempt (contract §4.3): `state` is what the record said before it. */
export function judgeCallback(
  outcome: CallbackOutcome,
  state: CallbackState,
  now: number,
  times: CallbackTimes,
  random: () => number = Math.random,
): CallbackVerdict {
  switch (outcome.kind) {
    case "forbidden":
      return { kind: "failed", status: undefined, error: outcome.error };
    case "answered": {
      const { status } = outcome;
      if (status >= 200 && status < 300) return { kind: "sent", status };
      if (finalStatuses(status)) return { kind: "failed", status, error: `answered ${status}` };
      return again(status, parseRetryAfter(outcome.retryAfter, now), `answered ${status}`);
    }
    case "unreachable":
      return again(undefined, undefined, outcome.error);
    default:
      return outcome satisfies never;
  }

  function again(status: number | undefined, after: number | undefined, error: string): CallbackVerdict {
    const delay =
      after === undefined
        ? backOff(times.minWait, times.maxWait, state.attempts, random)
        : Math.min(Math.max(after, times.minWait), longestRetryAfter);
    if (now + delay - (state.first ?? now) > times.window) return { kind: "failed", status, error };
    return { kind: "retry", delay, status, error };
  }
}

/**
 * What the record says after an attempt that was judged at `now`: with what went wrong, and when it is tried again. `first`
 * and `until` as in a `CallbackState`; times are Unix milliseconds.
 */
export function callbackAfter(
  before: CallbackState,
  verdict: CallbackVerdict,
  { now, first, until }: { readonly now: number; readonly first: number; readonly until: number },
): CallbackState {
  return {
    url: before.url,
    state: verdict.kind === "retry" ? "pending" : verdict.kind,
    attempts: before.attempts + 1,
    first,
    until,
    // The last status that was heard stays when nobody answered.
    ...withStatus(verdict.status ?? before.status),
    ...(verdict.kind === "sent" ? {} : { error: shortError(verdict.error) }),
    ...(verdict.kind === "retry" ? { next: now + verdict.delay } : {}),
  };
}

function withStatus(status: number | undefined): Pick<CallbackState, "status"> {
  return status === undefined ? {} : { status };
}
