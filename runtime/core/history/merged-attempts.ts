import type { CallAttempt, CallbackTry } from "../calls/call-entry.ts";

/** Newest attempts of a call, and newest tries of a callback, that are kept in addition to the first one. */
const lastKept = 127;

/**
 * The attempts of two records of one call, by number: a record keeps only some of its attempts, and of older ones only
 * some facts. Which of the two is newer does not matter.
 */
export function mergedAttempts(one: readonly CallAttempt[], other: readonly CallAttempt[]): readonly CallAttempt[] {
  return mergedByNumber(one, other, mergedAttempt);
}

/** The tries of two records of one callback, by number. */
export function mergedTries(one: readonly CallbackTry[], other: readonly CallbackTry[]): readonly CallbackTry[] {
  return mergedByNumber(one, other, mergedTry);
}

function mergedByNumber<T extends { readonly number: number }>(
  one: readonly T[],
  other: readonly T[],
  merge: (one: T, other: T) => T,
): readonly T[] {
  if (one.length === 0) return other;
  if (other.length === 0) return one;
  const byNumber = new Map(one.map((item) => [item.number, item]));
  for (const item of other) {
    const known = byNumber.get(item.number);
    byNumber.set(item.number, known === undefined ? item : merge(known, item));
  }
  const all = [...byNumber.values()].toSorted((a, b) => a.number - b.number);
  return all.length <= lastKept + 1 ? all : [...all.slice(0, 1), ...all.slice(-lastKept)];
}

function mergedAttempt(one: CallAttempt, other: CallAttempt): CallAttempt {
  // A store that was restored runs the call again under the same numbers: the later run is what happened.
  if (one.startedAt !== other.startedAt) return one.startedAt > other.startedAt ? one : other;
  return { ...one, ...other, ...fullerError(one, other) };
}

function mergedTry(one: CallbackTry, other: CallbackTry): CallbackTry {
  if (one.at !== other.at) return one.at > other.at ? one : other;
  return { ...one, ...other, ...fullerError(one, other) };
}

/** Errors of older attempts are truncated: the longer text is the earlier one. */
function fullerError(
  { error: one = "" }: { readonly error?: string },
  { error: other = "" }: { readonly error?: string },
): { readonly error?: string } {
  const longer = one.length === other.length ? one > other : one.length > other.length;
  const error = longer ? one : other;
  return error === "" ? {} : { error };
}
