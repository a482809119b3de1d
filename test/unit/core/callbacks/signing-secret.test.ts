import { expect, test } from "vitest";

import { readSigningSecret } from "../../../../runtime/core/callbacks/signing-secret.ts";

const keyOf = (value: Uint8Array | string) => {
  const secret = readSigningSecret(Buffer.from(value));
  return secret.kind === "usable" ? Buffer.from(secret.key) : secret.why;
};
const bytes = (count: number) => Buffer.alloc(count, 0xff);
const encoded = (count: number) => `whsec_${bytes(count).toString("base64")}`;

test.each([24, 25, 32, 64])("%i bytes are a key, raw or in base64 behind the prefix", (count) => {
  expect(keyOf(bytes(count))).toEqual(bytes(count));
  expect(keyOf(encoded(count))).toEqual(bytes(count));
  expect(keyOf(`${encoded(count)}\n`)).toEqual(bytes(count));
});

test.each([0, 1, 23, 65, 1_000])("%i bytes are none", (count) => {
  const why = `it has ${count} bytes, and 24 to 64 are needed`;
  expect(keyOf(bytes(count))).toBe(why);
  expect(keyOf(encoded(count))).toBe(why);
});

test("a raw key keeps its line end and its spaces: they are bytes of it", () => {
  expect(keyOf(`  ${"k".repeat(30)}\n`)).toEqual(Buffer.from(`  ${"k".repeat(30)}\n`));
});

test.each([
  "whsec_",
  "whsec_k",
  `whsec_${"*".repeat(32)}`,
  `whsec_${"A".repeat(33)}`,
  `whsec_ ${"A".repeat(32)}`,
  `whsec_${"A".repeat(30)}=A`,
])("%s is no key, and not a raw one either", (value) => {
  expect(keyOf(value)).toBe(
    value === "whsec_" ? "it has 0 bytes, and 24 to 64 are needed" : 'what follows "whsec_" is not base64',
  );
});

test("a fault never shows the secret", () => {
  expect(keyOf("canary")).not.toContain("canary");
  expect(keyOf("whsec_canary!")).not.toContain("canary");
});
