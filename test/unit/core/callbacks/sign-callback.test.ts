import { createHmac, createPrivateKey, createPublicKey, generateKeyPairSync, randomBytes, verify } from "node:crypto";

import { describe, expect, test } from "vitest";

import { callbackSignature, signedHeaders } from "../../../../runtime/core/callbacks/sign-callback.ts";
import { readSigningSecret } from "../../../../runtime/core/callbacks/signing-secret.ts";

/** Vectors of the tests of the scheme's own libraries (github.com/standard-webhooks/standard-webhooks). */
const published = {
  content: { id: "msg_p5jXN8AQM9LWM0D4loKWxJek", timestamp: 1_614_265_330, body: Buffer.from('{"test": 2432232314}') },
  secret: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
  v1: "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
  seed: "VEVTVFNJR05JTkdLRVlET05PVFVTRVRISVNGT1JBTlk=",
  v1a: "v1a,tQ9V2XOqn7jL/DQenEFpqIugdBVtiMmER5mhSkXBNwM0mkATuDe6KYYUuxqtaiHeYGb7KaaBRdM5WqyeFiL8Ag==",
} as const;

const secretOf = (value: string) => {
  const secret = readSigningSecret(Buffer.from(value));
  if (secret.kind === "unusable") throw new Error(secret.why);
  return { kind: "secret", key: secret.key } as const;
};
/** A private key from its seed: PKCS #8 with the fixed head that RFC 8410 gives it. */
const keyOfSeed = (seed: string) =>
  createPrivateKey({
    key: Buffer.concat([Buffer.from("302e020100300506032b657004220420", "hex"), Buffer.from(seed, "base64")]),
    format: "der",
    type: "pkcs8",
  });

describe("callbackSignature", () => {
  test("v1 is that of the published vector", () => {
    expect(callbackSignature(published.content, secretOf(published.secret))).toBe(published.v1);
  });

  test("v1a is that of the published vector", () => {
    const signer = { kind: "keys", keys: [keyOfSeed(published.seed)] } as const;
    expect(callbackSignature(published.content, signer)).toBe(published.v1a);
  });

  test("a binary body is signed byte for byte", () => {
    const body = Buffer.concat([Buffer.from([0xff, 0xfe, 0x00, 0xc3, 0x28]), randomBytes(300)]);
    const content = { id: "id", timestamp: 1, body };
    const key = randomBytes(32);
    const expected = createHmac("sha256", key)
      .update(Buffer.concat([Buffer.from("id.1."), body]))
      .digest("base64");
    expect(callbackSignature(content, { kind: "secret", key })).toBe(`v1,${expected}`);

    const pair = generateKeyPairSync("ed25519");
    const [, signature = ""] = callbackSignature(content, { kind: "keys", keys: [pair.privateKey] }).split(",");
    const signed = Buffer.concat([Buffer.from("id.1."), body]);
    expect(verify(null, signed, pair.publicKey, Buffer.from(signature, "base64"))).toBe(true);
    signed[5] = (signed[5] ?? 0) ^ 1;
    expect(verify(null, signed, pair.publicKey, Buffer.from(signature, "base64"))).toBe(false);
  });

  test("each of several keys signs, in their order", () => {
    const keys = [generateKeyPairSync("ed25519").privateKey, keyOfSeed(published.seed)];
    const signatures = callbackSignature(published.content, { kind: "keys", keys }).split(" ");
    expect(signatures).toHaveLength(2);
    expect(signatures[1]).toBe(published.v1a);
    const [, first = ""] = (signatures[0] ?? "").split(",");
    const { id, timestamp, body } = published.content;
    const signed = Buffer.from(`${id}.${timestamp}.${body.toString()}`);
    const [key] = keys;
    expect(key && verify(null, signed, createPublicKey(key), Buffer.from(first, "base64"))).toBe(true);
  });

  test.each([
    ["id", { id: "other" }],
    ["timestamp", { timestamp: 1_614_265_331 }],
    ["body", { body: Buffer.from('{"test": 2432232315}') }],
  ])("another %s has another signature", (_what, other) => {
    const changed = { ...published.content, ...other };
    expect(callbackSignature(changed, secretOf(published.secret))).not.toBe(published.v1);
  });
});

test("signedHeaders() drops every Webhook-* of the function's response, in each spelling, and adds its own", () => {
  const response = [
    "Webhook-Id",
    "forged",
    "X-Own",
    "1",
    "webhook_signature",
    "v1,forged",
    "WEBHOOK-Foo",
    "x",
    "Webhooks",
    "2",
    "X-Webhook-Source",
    "3",
  ];
  expect(signedHeaders(response, published.content, secretOf(published.secret))).toEqual([
    "X-Own",
    "1",
    "Webhooks",
    "2",
    "X-Webhook-Source",
    "3",
    "Webhook-Id",
    published.content.id,
    "Webhook-Timestamp",
    "1614265330",
    "Webhook-Signature",
    published.v1,
  ]);
});
