import { expect, test } from "vitest";

import type { OwnToken } from "../../../../../runtime/gateway/access/tokens/token-reader.ts";
import { VerifiedTokens } from "../../../../../runtime/gateway/access/tokens/verified-tokens.ts";

const token = (expiresAt = 1_000): OwnToken => ({ kind: "api", claims: {}, policies: new Set(), expiresAt });

test("of more than 10 000 tokens those used longest ago are dropped", () => {
  const kept = new VerifiedTokens();
  const keys = {};
  for (let index = 0; index < 10_000; index += 1) kept.keep(`${index}`, token(), 700, keys);
  expect(kept.find("0", keys, 0)).toBeDefined();
  kept.keep("new", token(), 700, keys);
  kept.keep("newer", token(), 700, keys);
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
  kept.keep("a", token(10), 700, keys);
  kept.keep("b", token(20), 700, keys);
  expect(kept.find("a", keys, 9)).toBeDefined();
  expect(kept.find("a", keys, 10)).toBeUndefined();
  expect(kept.find("a", keys, 9)).toBeUndefined();
  expect(kept.find("b", {}, 0)).toBeUndefined();
  expect(kept.find("b", keys, 0)).toBeUndefined();
});

test("of tokens that take more than 64 MiB with what is kept beside them, those used longest ago are dropped", () => {
  const kept = new VerifiedTokens();
  const keys = {};
  // With 4 KiB for its headers, each counts as 16 KiB.
  const length = 12_288;
  const many = 4_096;
  for (let index = 0; index < many; index += 1) kept.keep(`${index}`, token(), length, keys);
  expect(kept.find("0", keys, 0)).toBeDefined();
  kept.keep("new", token(), length, keys);
  const found = ["0", "1", "2", "new"].map((each) => kept.find(each, keys, 0) !== undefined);
  expect(found).toEqual([true, false, true, true]);
  // One that is kept again counts once.
  for (let index = 0; index < 10; index += 1) kept.keep("new", token(), length, keys);
  expect(kept.find("3", keys, 0)).toBeDefined();
  // What expired makes room, and so do other keys.
  kept.keep("ends", token(10), length, keys);
  expect(kept.find("4", keys, 0)).toBeUndefined();
  expect(kept.find("ends", keys, 10)).toBeUndefined();
  kept.keep("next", token(), length, keys);
  expect(kept.find("5", keys, 0)).toBeDefined();
  const others = {};
  for (let index = 0; index < many; index += 1) kept.keep(`${index}`, token(), length, others);
  expect(kept.find("0", others, 0)).toBeDefined();
});
