import { expect, test } from "vitest";

import { lasting, named, publicly, unquoted } from "../../../runtime/api/public-sentence.ts";

test("a sentence takes numbers, names, durations and other public sentences, and no strings", () => {
  const state = publicly`no replica ready after ${lasting(90_000)}`;
  expect(String(publicly`Cannot wake ${named("hello.functions")}: ${state} (${3})`)).toBe(
    'Cannot wake "hello.functions": no replica ready after 1m30s (3)',
  );
  // @ts-expect-error a string may hold anything.
  expect(String(publicly`${"text"}`)).toBe("text");
});

test.each(["", "a b", "/srv/app", "postgres://app@db", "10.0.0.1:8080", "-x", "a\nb", "x".repeat(129)])(
  "%j is no name, and is left out",
  (text) => {
    expect([named(text), unquoted(text)].map(String)).toEqual(['"…"', "…"]);
  },
);
