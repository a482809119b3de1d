import { expect, test } from "vitest";

import { isOwnToken } from "../../../../runtime/core/access/own-token.ts";

const part = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString("base64url");
const token = (header: object, payload: object): string => `Bearer ${part(header)}.${part(payload)}.c2ln`;
const issuer = "https://weir.example.com";

test.each([
  ["its issuer", token({ alg: "ES256" }, { iss: issuer })],
  ["an issuer below it", token({ alg: "ES256" }, { iss: `${issuer}/workload` })],
  ["Weir's type", token({ typ: "weir-workload+jwt" }, { iss: "https://elsewhere.example" })],
  ["Weir's type in another case", token({ typ: "Weir-Function+JWT" }, {})],
  ["another spelling of the scheme", token({}, { iss: issuer }).replace("Bearer", " bEaReR ")],
  ["no signature", `Bearer ${part({ alg: "none" })}.${part({ iss: issuer })}.`],
])("a token is Weir's by %s", (_name, authorization) => {
  expect(isOwnToken(authorization, issuer)).toBe(true);
});

test.each([
  ["another issuer", token({ alg: "ES256", typ: "JWT" }, { iss: "https://elsewhere.example" })],
  ["an issuer that begins like Weir's", token({}, { iss: `${issuer}.evil.example` })],
  ["an issuer that is no string", token({}, { iss: [issuer] })],
  ["no JSON", "Bearer abc.def.ghi"],
  ["no parts", "Bearer abc"],
  ["another scheme", token({}, { iss: issuer }).replace("Bearer", "Basic")],
  ["more than 16 KiB", token({ a: "a".repeat(16_384) }, { iss: issuer })],
])("a token is not Weir's: %s", (_name, authorization) => {
  expect(isOwnToken(authorization, issuer)).toBe(false);
});

test("without an issuer only the type decides", () => {
  expect(isOwnToken(token({}, { iss: "undefined" }), undefined)).toBe(false);
  expect(isOwnToken(token({ typ: "weir-x" }, {}), undefined)).toBe(true);
});

test("a token may have 16 KiB, and its parts must be objects", () => {
  const bare = `Bearer ${part({ typ: "weir-x" })}.${part({})}.`;
  expect(isOwnToken(bare.padEnd(16_384, "a"), issuer)).toBe(true);
  expect(isOwnToken(bare.padEnd(16_385, "a"), issuer)).toBe(false);
  expect(isOwnToken(`Bearer ${part(null)}.${part({ iss: issuer })}.x`, issuer)).toBe(true);
  expect(isOwnToken(`Bearer ${part({})}.${part(null)}.x`, issuer)).toBe(false);
  expect(isOwnToken(token({}, { iss: "undefined/x" }), undefined)).toBe(false);
});

test.each([
  ["text before the scheme", `x${token({}, { iss: issuer })}`],
  ["text after the token", `${token({}, { iss: issuer })} x`],
  ["a type that only contains Weir's", token({ typ: "not-weir-x" }, {})],
])("a token is not Weir's: %s", (_name, authorization) => {
  expect(isOwnToken(authorization, issuer)).toBe(false);
});
