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
  ["alice", ["alice"], 1],
  [7, ["7"], 1],
  [true, ["true"], 1],
  [null, [], 1],
  [{ a: 1 }, [], 1],
  [["a", "b"], ["a", "b"], 2],
  [["a", 7, true], ["a", "7", "true"], 3],
  [["a", null, { b: 1 }], ["a"], 3],
  [[], [], 0],
])("the texts of %j are %j", (value, texts, members) => {
  expect(claimTexts({ one: value }, "one")).toEqual({ texts, members });
});

test("a name that is not a claim of its own has no texts", () => {
  expect(claimTexts({}, "constructor")).toEqual({ texts: [], members: 1 });
  expect(claimTexts({}, "one")).toEqual({ texts: [], members: 1 });
});
