import fc from "fast-check";
import { describe, expect, test } from "vitest";

import { isFunctionName, isSecretName } from "../../../../runtime/api/grammar.ts";
import { isLabelKey, isLabelValue } from "../../../../runtime/core/labels/label-syntax.ts";
import { anyCharacter } from "../../../support/any-character.ts";

/** Mostly characters of names, so that many are accepted. */
const nearlyName = (maxLength: number) =>
  fc.string({
    unit: fc.constantFrom(
      ...["a", "b", "z", "0", "1", "9"].flatMap((one) => [one, one, one, one, one]),
      "-",
      "-",
      ".",
      ".",
      "A",
      "_",
      "/",
      "é",
      "\n",
      "\0",
      "%",
    ),
    maxLength,
  });
const runs = { numRuns: 2_000 };

const hostile = [
  "",
  "../x",
  "a/b",
  "a\\b",
  "a%2fb",
  "a\0",
  "-rf",
  "a-",
  "a".repeat(64),
  "A",
  "é",
  "a.b.c",
  "__proto__",
  "*",
  ">",
  "$JS",
  "a b",
  "a\n",
];

test("an accepted function name is safe as file, subject and Kubernetes name", () => {
  for (const name of hostile) expect(isFunctionName(name), name).toBe(false);
  let accepted = 0;
  fc.assert(
    fc.property(fc.oneof(nearlyName(6), fc.string({ unit: anyCharacter, maxLength: 80 })), (name) => {
      if (!isFunctionName(name)) return;
      accepted += 1;
      expect(name).toMatch(/^[a-z0-9-]{1,63}$/);
      expect(name).not.toMatch(/^-|-$/);
    }),
    runs,
  );
  expect(accepted).toBeGreaterThan(runs.numRuns / 10);
  fc.assert(fc.property(fc.stringMatching(/^[a-z0-9][a-z0-9-]{0,61}[a-z0-9]$/), isFunctionName));
});

test("an accepted secret name never leaves its directory", () => {
  for (const name of ["..", ".", "a/b", "a..b", ".a", "a.", "A", "a".repeat(254)])
    expect(isSecretName(name), name).toBe(false);
  let accepted = 0;
  fc.assert(
    fc.property(fc.oneof(nearlyName(8), fc.string({ unit: anyCharacter, maxLength: 300 })), (name) => {
      if (!isSecretName(name)) return;
      accepted += 1;
      expect(name).toMatch(/^(?!\.)[a-z0-9.-]{1,253}$/);
      expect(name).not.toContain("..");
    }),
    runs,
  );
  expect(accepted).toBeGreaterThan(runs.numRuns / 10);
});

describe("label syntax", () => {
  test.each(["a", "A.b_c-d", "com.service.scale.min", "example.com/name", "a".repeat(63), `${"a".repeat(253)}/b`])(
    "key %s",
    (key) => {
      expect(isLabelKey(key)).toBe(true);
    },
  );

  test.each([
    "",
    "/",
    "a/",
    "/a",
    "-a",
    "a-",
    "a b",
    "A.com/b",
    "a/b/c",
    "a".repeat(64),
    `${"a".repeat(254)}/b`,
    "é",
    "a\n",
  ])("no key %j", (key) => {
    expect(isLabelKey(key)).toBe(false);
  });

  test("values", () => {
    for (const value of ["", "a", "A_b.c-9", "a".repeat(63)]) expect(isLabelValue(value), value).toBe(true);
    for (const value of [" ", "a b", "-a", "a_", "a".repeat(64), "a/b"]) expect(isLabelValue(value), value).toBe(false);
  });

  test("long hostile keys are checked fast", () => {
    expect(isLabelKey(`${"a-".repeat(100_000)}/b`)).toBe(false);
    expect(isLabelKey(`${"a.".repeat(100_000)}!/b`)).toBe(false);
  });
});
