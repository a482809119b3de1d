import { setTimeout as pause } from "node:timers/promises";
import { inspect } from "node:util";

export interface EventuallyOptions {
  /** Milliseconds in which it must come true; absent: as long as something takes that never comes. */
  readonly within?: number | undefined;
  /** Completes the sentence "waited for …". */
  readonly what: string;
  /** Milliseconds between two looks. */
  readonly every?: number;
}

const shownCharacters = 1_000;
/** On a machine that others use a second takes ten: this ends a test that hangs, and is no bound of anything. */
export const patience = 45_000;

/**
 * Looks at `condition` until it gives something other than false, null or undefined, and resolves with that. What it
 * throws counts as "not yet".
 * @throws Error that says what was waited for and the last value, or the last error as `cause`
 */
export async function eventually<T>(
  condition: () => T | Promise<T>,
  options: EventuallyOptions,
): Promise<Exclude<T, false | null | undefined>> {
  const within = options.within ?? patience;
  const until = performance.now() + within;
  let last: Look = { value: undefined };
  for (;;) {
    try {
      const value = await answerBy(condition, until);
      if (isThere(value)) return value;
      last = { value };
    } catch (thrown) {
      last = thrown instanceof NoAnswer ? { ...last, unanswered: true } : { thrown };
    }
    if (performance.now() >= until) throw waitedInVain(options.what, within, last);
    await pause(Math.min(options.every ?? 20, Math.max(1, until - performance.now())));
  }
}

function isThere<T>(value: T): value is Exclude<T, false | null | undefined> {
  return value !== false && value !== null && value !== undefined;
}

/** What was seen last, and whether a look after it did not come back. */
type Look = ({ readonly value: unknown } | { readonly thrown: unknown }) & { readonly unanswered?: boolean };

/** The deadline came before the answer. */
class NoAnswer extends Error {}

/** A look that hangs must not outlast the deadline. */
async function answerBy<T>(condition: () => T | Promise<T>, until: number): Promise<T> {
  const given = new AbortController();
  const deadline = pause(Math.max(1, until - performance.now()), undefined, { signal: given.signal }).then(
    () => Promise.reject(new NoAnswer("the last look did not come back")),
    () => new Promise<never>(() => undefined),
  );
  try {
    return await Promise.race([Promise.resolve().then(condition), deadline]);
  } finally {
    given.abort();
  }
}

function waitedInVain(what: string, within: number, last: Look): Error {
  const [label, seen] = "thrown" in last ? ["last error", last.thrown] : ["last value", last.value];
  const text =
    seen instanceof Error ? seen.message : inspect(seen, { depth: 6, breakLength: Number.POSITIVE_INFINITY });
  const shown = text.length > shownCharacters ? `${text.slice(0, shownCharacters)}…` : text;
  const unanswered = last.unanswered === true ? "; the last look did not come back" : "";
  return new Error(`Waited ${within} ms in vain for ${what}; ${label}: ${shown}${unanswered}`, { cause: seen });
}
