import { expect, test } from "vitest";

import { decideKeptKeys } from "../../../../infra/rotation/decide-kept-keys.ts";
import { signingKeyOverlap as overlap } from "../../../../runtime/api/iam/signing-keys.ts";

const hour = 3_600_000;
const now = Date.parse("2026-03-01T00:00:00Z");

test("the first key has none before it", () => {
  expect(decideKeptKeys({ current: "first", live: {}, now })).toEqual({
    keys: { current: "first" },
    endsEarly: false,
  });
});

test("another key is a rotation: the one in force becomes the one before", () => {
  expect(decideKeptKeys({ current: "second", live: { current: "first" }, now })).toEqual({
    keys: { current: "second", previous: "first", rotatedAt: now },
    endsEarly: false,
  });
});

test("the same key keeps the one before until the overlap is over, however often the program runs", () => {
  const live = { current: "second\n", previous: "first", rotatedAt: now };
  const after = (time: number) => decideKeptKeys({ current: "second", live, now: now + time });
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
  const after = (time: number) => decideKeptKeys({ current: "third", live, now: now + time });
  const keys = (rotatedAt: number) => ({ current: "third", previous: "second", rotatedAt });
  expect(after(overlap - 1)).toEqual({ keys: keys(now + overlap - 1), endsEarly: true });
  expect(after(overlap)).toEqual({ keys: keys(now + overlap), endsEarly: false });
});
