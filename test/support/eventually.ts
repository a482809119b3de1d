import { setTimeout as pause } from "node:timers/promises";
import { inspect } from "node:util";

export interface EventuallyOptions {
  /** Timeout, milliseconds; `patience` by default. */
  readonly within?: number | undefined;
  /** Completes the sentence "waited for …". */
  readonly what: string;
  /** Milliseconds between two checks. */
  readonly every?: number;
}

const shownCharacters = 1_000;
/** Default timeout, milliseconds. On a busy machine a second takes ten: this ends a hanging test and is no bound. */
export const patience = 45_000;

/**
 * Calls `condition` until it returns something other than false, null or undefined, and resolves with that. An error
 * that it throws counts as "not yet".
 * @throws Error that says what was waited for, and the last value or error, which is also its `cause`
 */
export async function eventually<T>(
  condition: () => T | Promise<T>,
  options: EventuallyOptions,
): Promise<Exclude<T, false | null | undefined>> {
  const within = options.within ?? patience;
  const until = performance.now() + within;
  let last: Observation = { value: undefined };
  for (;;) {
    try {
      const value = await resultBy(condition, until);
      if (isPresent(value)) return value;
      last = { value };
    } catch (thrown) {
      last = thrown instanceof CheckTimeout ? { ...last, timedOut: true } : { thrown };
    }
    if (performance.now() >= until) throw timeoutError(options.what, within, last);
    await pause(Math.min(options.every ?? 20, Math.max(1, until - performance.now())));
  }
}

function isPresent<T>(value: T): value is Exclude<T, false | null | undefined> {
  return value !== false && value !== null && value !== undefined;
}

/** The last value or error, and whether a later check timed out. */
type Observation = ({ readonly value: unknown } | { readonly thrown: unknown }) & { readonly timedOut?: boolean };

/** The deadline passed before the check returned. */
class CheckTimeout extends Error {}

/** A check that hangs must not outlast the deadline. */
async function resultBy<T>(condition: () => T | Promise<T>, until: number): Promise<T> {
  const controller = new AbortController();
  const deadline = pause(Math.max(1, until - performance.now()), undefined, { signal: controller.signal }).then(
    () => Promise.reject(new CheckTimeout("the last look did not come back")),
    () => new Promise<never>(() => undefined),
  );
  try {
    return await Promise.race([Promise.resolve().then(condition), deadline]);
  } finally {
    controller.abort();
  }
}

function timeoutError(what: string, within: number, last: Observation): Error {
  const [label, seen] = "thrown" in last ? ["last error", last.thrown] : ["last value", last.value];
  const text =
    seen instanceof Error ? seen.message : inspect(seen, { depth: 6, breakLength: Number.POSITIVE_INFINITY });
  const shown = text.length > shownCharacters ? `${text.slice(0, shownCharacters)}…` : text;
  const timedOut = last.timedOut === true ? "; the last look did not come back" : "";
  return new Error(`Waited ${within} ms in vain for ${what}; ${label}: ${shown}${timedOut}`, { cause: seen });
}
