import { expect, test } from "vitest";

import { readPlatform } from "../../../../infra/manifests/read-platform.ts";
import { decideKeptKeys } from "../../../../infra/rotation/decide-kept-keys.ts";
import { keyOverlap } from "../../../../infra/rotation/key-overlap.ts";

const hour = 3_600_000;
const overlap = 25 * hour;
const now = Date.parse("2026-03-01T00:00:00Z");

test("the first key has none before it", () => {
  expect(decideKeptKeys({ current: "first", live: {}, now, overlap })).toEqual({
    keys: { current: "first" },
    endsEarly: false,
  });
});

test("another key is a rotation: the one in force becomes the one before", () => {
  expect(decideKeptKeys({ current: "second", live: { current: "first" }, now, overlap })).toEqual({
    keys: { current: "second", previous: "first", rotatedAt: now },
    endsEarly: false,
  });
});

test("the same key keeps the one before until the overlap is over, however often the program runs", () => {
  const live = { current: "second\n", previous: "first", rotatedAt: now };
  const after = (time: number) => decideKeptKeys({ current: "second", live, now: now + time, overlap });
  for (const time of [0, hour, overlap - 1])
    expect(after(time)).toEqual({
      keys: { current: "second", previous: "first", rotatedAt: now },
      endsEarly: false,
    });
  for (const time of [overlap, 400 * overlap])
    expect(after(time)).toEqual({ keys: { current: "second" }, endsEarly: false });
});

test("a rotation ends the key before last, which is early within its overlap", () => {
  const live = { current: "second", previous: "first", rotatedAt: now };
  const after = (time: number) => decideKeptKeys({ current: "third", live, now: now + time, overlap });
  const keys = (rotatedAt: number) => ({ current: "third", previous: "second", rotatedAt });
  expect(after(overlap - 1)).toEqual({ keys: keys(now + overlap - 1), endsEarly: true });
  expect(after(overlap)).toEqual({ keys: keys(now + overlap), endsEarly: false });
});

test("the overlap is a day, or the longest life of a token, and an hour to spread the new key", () => {
  const of = (...expiries: readonly string[]) => {
    const issuers = expiries.map((tokenExpiry, at) => [
      `i${at}`,
      { iss: `https://${at}.example.com`, aud: ["weir"], tokenExpiry },
    ]);
    return keyOverlap(readPlatform({ iam: { issuers: Object.fromEntries(issuers) as object } }));
  };
  expect(of()).toBe(25 * hour);
  expect(of("30m", "1h")).toBe(25 * hour);
  expect(of("72h", "30m")).toBe(73 * hour);
});
