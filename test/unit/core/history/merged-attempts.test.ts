import { describe, expect, test } from "vitest";

import type { CallAttempt, CallbackTry } from "../../../../runtime/core/calls/call-entry.ts";
import { mergedAttempts, mergedTries } from "../../../../runtime/core/history/merged-attempts.ts";

const start = 1_800_000_000_000;

/** Attempts of these numbers, a second after each other. */
const attempts = (...numbers: readonly number[]): CallAttempt[] =>
  numbers.map((number) => ({ number, startedAt: start + 1_000 * number }));
const upTo = (count: number): CallAttempt[] => attempts(...Array.from({ length: count }, (_, index) => index + 1));
const numbersOf = (list: readonly { readonly number: number }[]): number[] => list.map(({ number }) => number);

/** Which of two records is newer does not matter. */
function merged(one: readonly CallAttempt[], other: readonly CallAttempt[]): readonly CallAttempt[] {
  const list = mergedAttempts(one, other);
  expect(mergedAttempts(other, one)).toEqual(list);
  return list;
}

describe("the attempts of two records", () => {
  test("are those of both, by number", () => {
    expect(merged(attempts(1, 5, 6), attempts(1, 2, 4))).toEqual(attempts(1, 2, 4, 5, 6));
  });

  test("are those of one if the other has none", () => {
    expect(merged([], attempts(1, 2))).toEqual(attempts(1, 2));
  });

  test("have the facts of either", () => {
    const claimed = { number: 1, startedAt: start, worker: "node-1:10" };
    const ended = { number: 1, startedAt: start, endedAt: start + 500, status: 200 };
    expect(merged([claimed], [ended])).toEqual([{ ...claimed, ...ended }]);
  });

  test("after a store was restored, an attempt is that of the later run, and nothing of the other", () => {
    const lost = { number: 1, startedAt: start, endedAt: start + 9_000, status: 503, error: "no replica is ready" };
    const again = { number: 1, startedAt: start + 5_000, endedAt: start + 5_100, status: 200 };
    expect(merged([lost], [again])).toEqual([again]);
  });

  test.each([
    [127, upTo(127)],
    [128, upTo(128)],
    [129, [...upTo(1), ...upTo(129).slice(2)]],
    [300, [...upTo(1), ...upTo(300).slice(-127)]],
  ])("of %i the first and the last 127 are kept", (count, kept) => {
    expect(merged(upTo(count).slice(0, 60), upTo(count).slice(50))).toEqual(kept);
  });
});

test.each<[string, string | undefined, string | undefined, string | undefined]>([
  [
    "the longer one",
    "answered with half of its bo…",
    "answered with half of its body",
    "answered with half of its body",
  ],
  ["the longer one, whatever comes first in the alphabet", "z…", "a long error", "a long error"],
  ["the one that is there", undefined, "refused", "refused"],
  ["of two of one length always the same", "error a", "error b", "error b"],
  ["that which both have", "refused", "refused", "refused"],
  ["none if none has one", undefined, undefined, undefined],
])("the error of an attempt is %s", (_, one, other, error) => {
  const withError = (text: string | undefined): CallAttempt => ({
    number: 1,
    startedAt: start,
    ...(text === undefined ? {} : { error: text }),
  });
  expect(merged([withError(one)], [withError(other)])).toEqual([withError(error)]);
});

describe("the tries of two records of a callback", () => {
  const tried = (number: number, over: Partial<CallbackTry> = {}): CallbackTry => ({
    number,
    at: start + 1_000 * number,
    ms: 30,
    ...over,
  });

  test("are those of both, by number", () => {
    expect(numbersOf(mergedTries([tried(3), tried(4)], [tried(1), tried(3)]))).toEqual([1, 3, 4]);
  });

  test("have the fuller error of either", () => {
    const [one, other] = [
      tried(1, { error: "ECONNREFUS…" }),
      tried(1, { error: "ECONNREFUSED 10.0.0.1:80", status: 503 }),
    ];
    expect(mergedTries([one], [other])).toEqual([other]);
    expect(mergedTries([other], [one])).toEqual([other]);
  });

  test("after a store was restored, a try is the later one, and nothing of the other", () => {
    const lost = tried(1, { error: "no answer within 10 s" });
    const again = tried(1, { at: start + 90_000, status: 204 });
    expect(mergedTries([lost], [again])).toEqual([again]);
    expect(mergedTries([again], [lost])).toEqual([again]);
  });
});
