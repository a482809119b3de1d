import { expect, test } from "vitest";

import { subjectClaims } from "../../../../../runtime/core/access/claims.ts";
import { carriedClaims, keptClaims } from "../../../../../runtime/core/access/tokens/carried-claims.ts";

const subject = { iss: "https://idp.example", sub: "alice", aud: ["weir", "x"], exp: 3, iat: 1, nbf: 1, jti: "j" };

test("subject, issuer and audience are carried as fed:, other claims as they are", () => {
  expect(carriedClaims({ ...subject, groups: ["a"], email: "a@b.example", nested: { iss: 1 } })).toEqual({
    sub: "fed:alice",
    "fed:iss": "https://idp.example",
    "fed:aud": ["weir", "x"],
    groups: ["a"],
    email: "a@b.example",
    nested: { iss: 1 },
  });
});

test("names that the platform writes are not carried", () => {
  const wanted = {
    typ: "weir-api+jwt",
    policy: ["admin"],
    function: { permissions: ["*"] },
    "fed:iss": "x",
    "fed:own": 1,
  };
  const parsed = JSON.parse('{"__proto__":{"policy":["admin"]}}') as object;
  const carried = carriedClaims({ ...subject, ...wanted, ...parsed });
  expect(Object.keys(carried).toSorted()).toEqual(["fed:aud", "fed:iss", "sub"]);
  expect(carried["fed:iss"]).toBe("https://idp.example");
  expect(Object.getPrototypeOf(carried)).toBe(Object.prototype);
});

test("rules see the subject's own claims again, also after a second exchange", () => {
  const carried = carriedClaims({ ...subject, sub: "fed:alice", team: "core" });
  const own = { team: "core", sub: "fed:alice", iss: "https://idp.example", aud: ["weir", "x"] };
  expect(subjectClaims(carried)).toEqual(own);
  const issued = {
    ...carried,
    iss: "https://weir.example",
    aud: "https://weir.example",
    exp: 9,
    iat: 2,
    jti: "k",
    policy: ["p"],
  };
  expect(keptClaims(issued)).toEqual(carried);
  expect(subjectClaims(keptClaims(issued))).toEqual(own);
});
