import { expect, test } from "vitest";

import { claimTexts, subjectClaims } from "../../../../runtime/core/access/claims.ts";

test("the subject's claims are what its issuer wrote, without those of the platform", () => {
  const own = {
    iss: "https://weir.example",
    aud: "weir",
    exp: 1,
    iat: 2,
    nbf: 3,
    jti: "4",
    typ: "weir",
    policy: ["p"],
  };
  const carried = { groups: ["dev"], email: "alice@example.com" };
  expect(
    subjectClaims({
      ...own,
      ...carried,
      function: "dev:pay",
      sub: "fed:alice",
      "fed:iss": "https://issuer.example",
      "fed:aud": "cli",
    }),
  ).toEqual({ ...carried, sub: "alice", iss: "https://issuer.example", aud: "cli" });
});

test.each([
  ["alice", "alice"],
  ["fed:fed:alice", "fed:alice"],
  ["afed:alice", "afed:alice"],
  [7, 7],
  [undefined, undefined],
])("of sub %o the subject is %o", (sub, expected) => {
  expect(subjectClaims({ sub })["sub"]).toBe(expected);
});

test.each([
  ["alice", ["alice"], false],
  [7, ["7"], false],
  [true, ["true"], false],
  [null, [], false],
  [{ a: 1 }, [], false],
  [["a", "b"], ["a", "b"], true],
  [["a", null, { b: 1 }], ["a"], true],
  [[], [], true],
])("the texts of %j are %j", (value, texts, isList) => {
  expect(claimTexts({ one: value }, "one")).toEqual({ texts, isList });
});

test("a name that is not a claim of its own has no texts", () => {
  expect(claimTexts({}, "constructor")).toEqual({ texts: [], isList: false });
  expect(claimTexts({}, "one")).toEqual({ texts: [], isList: false });
});
