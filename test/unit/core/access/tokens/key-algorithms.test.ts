import { expect, test } from "vitest";

import { algorithmsOfKey } from "../../../../../runtime/core/access/tokens/key-algorithms.ts";

/** A number of exactly that many bits, in base64url. */
const number = (bits: number): string => {
  const bytes = Buffer.alloc(Math.ceil(bits / 8), 0xff);
  bytes[0] = 0xff >> (bytes.length * 8 - bits);
  return bytes.toString("base64url");
};
/** A number of so many bytes, all bits set, written with a zero before it, in base64url. */
const afterZero = (bytes: number): string =>
  Buffer.concat([Buffer.alloc(1), Buffer.alloc(bytes, 0xff)]).toString("base64url");
const ec = { kty: "EC", crv: "P-256", x: "AA", y: "AA" };
const rsa = { kty: "RSA", n: number(2_048), e: "AQAB" };
const ed = { kty: "OKP", crv: "Ed25519", x: "AA" };

test.each([
  ["P-256", ec, ["ES256"]],
  ["RSA of no algorithm", rsa, ["RS256", "PS256"]],
  ["RSA of one algorithm", { ...rsa, alg: "PS256" }, ["PS256"]],
  ["RSA of 4096 bits", { ...rsa, n: number(4_096) }, ["RS256", "PS256"]],
  ["RSA with a modulus of many zeros", { ...rsa, n: `g${"A".repeat(341)}` }, ["RS256", "PS256"]],
  ["RSA of 2048 bits after a zero", { ...rsa, n: afterZero(256) }, ["RS256", "PS256"]],
  ["Ed25519", { ...ed, alg: "EdDSA", use: "sig", key_ops: ["verify"] }, ["EdDSA"]],
])("a key is usable: %s", (_name, key, algorithms) => {
  expect(algorithmsOfKey(key)).toEqual(algorithms);
});

test.each([
  ["RSA of 1024 bits", { ...rsa, n: number(1_024) }],
  ["RSA of 2047 bits", { ...rsa, n: number(2_047) }],
  [
    "RSA of 1024 bits after zeros",
    { ...rsa, n: Buffer.concat([Buffer.alloc(256), Buffer.alloc(128, 255)]).toString("base64url") },
  ],
  ["RSA of 2040 bits after a zero", { ...rsa, n: afterZero(255) }],
  ["RSA with an empty modulus", { ...rsa, n: "" }],
  ["RSA with a modulus that is no text", { ...rsa, n: 2 ** 52 }],
  ["RSA without modulus", { kty: "RSA", e: "AQAB" }],
  ["a private key", { ...ec, d: "AA" }],
  ["a private RSA key", { ...rsa, d: "AA", p: "AA" }],
  ["a shared secret", { kty: "oct", k: "AAAA", alg: "HS256" }],
  ["a key for encryption", { ...rsa, use: "enc" }],
  ["a key for other operations", { ...rsa, key_ops: ["encrypt"] }],
  ["operations that are no list", { ...rsa, key_ops: "verify" }],
  ["another algorithm than its kind", { ...ec, alg: "RS256" }],
  ["RSA with SHA-512", { ...rsa, alg: "RS512" }],
  ["another curve", { ...ec, crv: "P-521" }],
  ["X25519", { ...ed, crv: "X25519" }],
  ["another kind with that curve", { ...ed, kty: "EC" }],
  ["a kind that is not known, with that curve", { ...ed, kty: "AKP" }],
  ["no kind", { n: number(2_048), e: "AQAB" }],
  ["null", null],
  ["nothing", undefined],
  ["a text", "RSA"],
])("a key is not usable: %s", (_name, key) => {
  expect(algorithmsOfKey(key)).toEqual([]);
});

test.each(["d", "p", "q", "dp", "dq", "qi", "oth", "k", "priv"])(
  "a key that shows the private member %s is not usable, whatever it is otherwise",
  (member) => {
    for (const key of [ec, rsa, ed]) expect(algorithmsOfKey({ ...key, [member]: "AA" })).toEqual([]);
  },
);
