import { createHash, createPublicKey, generateKeyPairSync, sign, verify } from "node:crypto";

import { describe, expect, test } from "vitest";

import {
  callbackKeyFiles,
  callbackKeySet,
  readCallbackKeys,
} from "../../../../runtime/core/callbacks/callback-keys.ts";

const pair = () => {
  const { privateKey, publicKey } = generateKeyPairSync("ed25519");
  return {
    privatePem: privateKey.export({ type: "pkcs8", format: "pem" }),
    publicPem: publicKey.export({ type: "spki", format: "pem" }),
    publicKey,
  };
};
const [current, previous] = [pair(), pair()];

test("the files are the current key and the previous one", () => {
  expect(callbackKeyFiles("/keys")).toEqual(["/keys/callback-key.pem", "/keys/callback-key-previous.pem"]);
});

describe("readCallbackKeys", () => {
  test("has the current key first, and no previous one when its file is missing", () => {
    const [first, second] = readCallbackKeys([current.privatePem, previous.privatePem]);
    const signature = first && sign(null, Buffer.from("x"), first);
    expect(signature && verify(null, Buffer.from("x"), current.publicKey, signature)).toBe(true);
    expect(second && createPublicKey(second).equals(previous.publicKey)).toBe(true);
    expect(readCallbackKeys([current.privatePem, undefined])).toHaveLength(1);
  });

  test.each([
    [[undefined, previous.privatePem], 'Cannot use the key of callbacks "callback-key.pem": the file is missing'],
    [["not PEM", undefined], 'Cannot use the key of callbacks "callback-key.pem": it holds no such key in PEM'],
    [[current.publicPem, undefined], 'Cannot use the key of callbacks "callback-key.pem": it holds no such key in PEM'],
    [
      [
        current.privatePem,
        generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey.export({ type: "pkcs8", format: "pem" }),
      ],
      'Cannot use the key of callbacks "callback-key-previous.pem": its key is not of type Ed25519',
    ],
  ])("refuses what it cannot sign with", (texts, sentence) => {
    expect(() => readCallbackKeys(texts)).toThrow(
      expect.objectContaining({ code: "internal_error", message: sentence }),
    );
  });
});

describe("callbackKeySet", () => {
  test("has the public halves alone, whichever half the files hold", () => {
    const fromPrivate = callbackKeySet([current.privatePem, previous.privatePem]);
    expect(callbackKeySet([current.publicPem, previous.publicPem])).toEqual(fromPrivate);
    for (const [index, key] of [current, previous].entries()) {
      const jwk = fromPrivate.keys[index];
      expect(Object.keys(jwk ?? {}).toSorted()).toEqual(["alg", "crv", "kid", "kty", "use", "x"]);
      expect(jwk && createPublicKey({ key: jwk, format: "jwk" }).equals(key.publicKey)).toBe(true);
    }
  });

  test("names a key by its thumbprint (RFC 8037 appendix A.3)", () => {
    const x = "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo";
    const pem = createPublicKey({ key: { kty: "OKP", crv: "Ed25519", x }, format: "jwk" }).export({
      type: "spki",
      format: "pem",
    });
    expect(callbackKeySet([pem])).toEqual({
      keys: [
        { kty: "OKP", crv: "Ed25519", x, kid: "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k", alg: "EdDSA", use: "sig" },
      ],
    });
    expect(createHash("sha256").update(`{"crv":"Ed25519","kty":"OKP","x":"${x}"}`).digest("base64url")).toBe(
      "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k",
    );
  });

  test("is empty where there is no key", () => {
    expect(callbackKeySet([undefined, undefined])).toEqual({ keys: [] });
  });
});

test("the error of a key that cannot be read has the cause of it", () => {
  expect(() => callbackKeySet(["not PEM", undefined])).toThrow(
    expect.objectContaining({ cause: expect.objectContaining({ code: expect.stringMatching(/^ERR_OSSL/) }) }),
  );
});
