import { expect, test } from "vitest";

import { claimsFault } from "../../../../../runtime/core/access/tokens/claims-fault.ts";

const now = 1_700_000_000;
const good = { sub: "alice", aud: "weir", iat: now - 60, exp: now + 600 };
const fault = (over: object): string | undefined => claimsFault({ ...good, ...over }, now * 1_000);

test.each([
  ["as it should be", {}],
  ["a list of audiences", { aud: ["a", "weir"] }],
  ["expired for less than 30 s", { exp: now - 29 }],
  ["issued 30 s ahead", { iat: now + 30 }],
  ["valid in 30 s", { nbf: now + 30 }],
  ["valid for 24 hours", { iat: now, exp: now + 86_400 }],
])("claims are right: %s", (_name, over) => {
  expect(fault(over)).toBeUndefined();
});

test.each([
  ["no subject", { sub: undefined }, "claim sub is no text"],
  ["an empty subject", { sub: "" }, "claim sub is no text"],
  ["a subject that is a number", { sub: 1 }, "claim sub is no text"],
  ["no audience", { aud: undefined }, "claim aud is no text and no list of texts"],
  ["an audience with a number", { aud: ["weir", 1] }, "claim aud is no text and no list of texts"],
  ["no exp", { exp: undefined }, "claim exp is missing or no time"],
  ["an exp that is a text", { exp: String(now + 600) }, "claim exp is missing or no time"],
  ["no iat", { iat: undefined }, "claim iat is missing or no time"],
  ["an endless exp", { exp: Number.POSITIVE_INFINITY }, "claim exp is missing or no time"],
  ["an nbf that is a text", { nbf: "0" }, "claim nbf is no time"],
  ["an nbf that is null", { nbf: null }, "claim nbf is no time"],
  ["expired for 30 s", { exp: now - 30 }, "it has expired"],
  ["issued in an hour", { iat: now + 3_600, exp: now + 7_200 }, "it was issued in the future"],
  ["valid from tomorrow", { nbf: now + 86_400 }, "it is not valid yet"],
  ["exp in ten years", { exp: now + 315_576_000 }, "it is valid for more than 24 hours"],
  ["valid for 24 hours and a second", { iat: now, exp: now + 86_401 }, "it is valid for more than 24 hours"],
])("claims are wrong: %s", (_name, over, sentence) => {
  expect(fault(over)).toBe(sentence);
});
