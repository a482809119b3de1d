import { expect, test } from "vitest";

import type { OwnToken } from "../../../../../runtime/gateway/access/tokens/token-reader.ts";
import { VerifiedTokens } from "../../../../../runtime/gateway/access/tokens/verified-tokens.ts";

const token = (expiresAt = 1_000): OwnToken => ({ kind: "api", claims: {}, policies: new Set(), expiresAt });

test("of more than 10 000 tokens those used longest ago are dropped", () => {
  const kept = new VerifiedTokens();
  const keys = {};
  for (let index = 0; index < 10_000; index += 1) kept.keep(`${index}`, token(), keys);
  expect(kept.find("0", keys, 0)).toBeDefined();
  kept.keep("new", token(), keys);
  kept.keep("newer", token(), keys);
  expect(["0", "1", "2", "3", "new", "newer"].map((each) => kept.find(each, keys, 0) !== undefined)).toEqual([
    true,
    false,
    false,
    true,
    true,
    true,
  ]);
});

test("a token is dropped when it expires, and all are when the keys change", () => {
  const kept = new VerifiedTokens();
  const keys = {};
  kept.keep("a", token(10), keys);
  kept.keep("b", token(20), keys);
  expect(kept.find("a", keys, 9)).toBeDefined();
  expect(kept.find("a", keys, 10)).toBeUndefined();
  expect(kept.find("a", keys, 9)).toBeUndefined();
  expect(kept.find("b", {}, 0)).toBeUndefined();
  expect(kept.find("b", keys, 0)).toBeUndefined();
});
