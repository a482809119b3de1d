import { createPrivateKey, createPublicKey } from "node:crypto";

import fc from "fast-check";
import { SignJWT } from "jose";
import { expect, test, vi } from "vitest";

import { openKeyFiles } from "../../../../../runtime/gateway/access/tokens/key-files.ts";
import { ownTokenReader } from "../../../../../runtime/gateway/access/tokens/own-token-reader.ts";
import { newKeyPem, writeKeyFiles } from "../../../../support/key-files.ts";
import { tempDirectory } from "../../../../support/temp-directory.ts";
import { claimsOf, flipBit, headerOf, tokenPart } from "../../../../support/token-keys.ts";

const issuer = "https://weir.example";
const seconds = 1_700_000_000;
const pem = newKeyPem();
const otherPem = newKeyPem();
const good = {
  iss: issuer,
  aud: issuer,
  sub: "fed:a",
  "fed:iss": "x",
  policy: ["p"],
  iat: seconds,
  exp: seconds + 600,
};

async function open(current = pem, previous?: string) {
  const directory = await tempDirectory("keys");
  await writeKeyFiles(directory.path, current, previous);
  const clock = { now: seconds * 1_000 };
  const now = () => clock.now;
  const keys = openKeyFiles(directory.path, now);
  const ring = vi.fn(keys);
  const { kid } = keys().signing;
  return {
    clock,
    ring,
    kid,
    directory,
    reader: ownTokenReader(ring, issuer, now),
    sign: (claims: object = {}, header: object = {}, by = current) =>
      new SignJWT({ ...good, ...claims })
        .setProtectedHeader({ alg: "ES256", kid, typ: "weir-api+jwt", ...header })
        .sign(createPrivateKey(by)),
    [Symbol.asyncDispose]: () => directory.remove(),
  };
}

test("an API token reads as what it holds", async () => {
  await using opened = await open();
  const token = await opened.sign({ policy: ["p", "q"], jti: "1" });
  expect(await opened.reader.read(token)).toEqual({
    kind: "api",
    claims: { ...good, policy: ["p", "q"], jti: "1" },
    policies: new Set(["p", "q"]),
    expiresAt: (seconds + 600) * 1_000,
  });
});

test("a function token reads as one", async () => {
  await using opened = await open();
  const scope = { permissions: ["dev:*"], audience: [] };
  const token = await opened.sign({ function: scope }, { typ: "weir-function+jwt" });
  expect(await opened.reader.read(token)).toMatchObject({ kind: "function", claims: { function: scope } });
});

const day = 86_400;
test.each<[string, object, object?]>([
  ["no audience", { aud: undefined }],
  ["another audience", { aud: "https://other.example" }],
  ["another gateway's issuer", { iss: "https://other.example" }],
  ["an issuer below its own", { iss: `${issuer}/workload` }],
  ["no exp", { exp: undefined }],
  ["no iat", { iat: undefined }],
  ["expired", { iat: seconds - 600, exp: seconds - 31 }],
  ["nbf tomorrow", { nbf: seconds + day }],
  ["iat in an hour", { iat: seconds + 3_600, exp: seconds + 3_700 }],
  ["exp in ten years", { exp: seconds + 3_652 * day }],
  ["no subject", { sub: undefined }],
  ["policies that are a text", { policy: "p" }],
  ["no policies", { policy: undefined }],
  ["no kid", {}, { kid: undefined }],
  ["another kid", {}, { kid: "../../key" }],
  ["the type of an id token", {}, { typ: "JWT" }],
  ["no type", {}, { typ: undefined }],
  ["the type of a workload token", {}, { typ: "weir-workload+jwt" }],
  ["the type of a function token without scope", {}, { typ: "weir-function+jwt" }],
  ["crit", {}, { crit: ["b64"], b64: true }],
])("a token is not valid: %s", async (_name, claims, header) => {
  await using opened = await open();
  const token = await opened.sign(claims, header);
  expect(await opened.reader.read(token)).toBeUndefined();
  expect(await opened.reader.read(token)).toBeUndefined();
});

test("a token is not valid if anything of it was changed", async () => {
  await using opened = await open();
  const token = await opened.sign();
  const [header = "", claims = "", signature = ""] = token.split(".");
  const publicKey = createPublicKey(pem);
  const shared = (key: Buffer) =>
    new SignJWT(good).setProtectedHeader({ alg: "HS256", kid: opened.kid, typ: "weir-api+jwt" }).sign(key);
  const embedded = createPublicKey(otherPem).export({ format: "jwk" });
  const forged = [
    flipBit(token, 0),
    flipBit(token, 1),
    flipBit(token, 2),
    `${header}.${claims}`,
    `${header}.${claims}.`,
    `${header}.${claims}.${signature}.${signature}`,
    // The last character of 64 bytes has four bits of no byte.
    `${header}.${claims}.${signature.slice(0, -1)}${signature.endsWith("A") ? "B" : nextCharacter(signature)}`,
    `${tokenPart({ ...headerOf(token), alg: "none" })}.${claims}.`,
    `${tokenPart({ ...headerOf(token), alg: "none" })}.${claims}.${signature}`,
    await shared(publicKey.export({ type: "spki", format: "der" })),
    await shared(Buffer.from(publicKey.export({ type: "spki", format: "pem" }))),
    // Another gateway's key, with the kid of this one, and with its key in the header.
    await opened.sign({}, {}, otherPem),
    await opened.sign({}, { jwk: embedded, jku: "http://127.0.0.1:9/keys" }, otherPem),
    token.padEnd(16_385, "A"),
    ` ${token}`,
    `${token}\n`,
    "",
    "..",
  ];
  for (const each of forged) expect([each, await opened.reader.read(each)]).toEqual([each, undefined]);
  expect(claimsOf(token)).toEqual(good);
  expect(await opened.reader.read(token)).toBeDefined();
});

test("a token is not valid with any one character changed, added or left out", async () => {
  await using opened = await open();
  const token = await opened.sign();
  const character = fc.constantFrom(..."ABYZabyz0189-_.=+/ ".split(""));
  const place = fc.nat({ max: token.length });
  const edit = fc.tuple(place, fc.nat({ max: 1 }), fc.oneof(character, fc.constant("")));
  await fc.assert(
    fc.asyncProperty(edit, async ([at, removed, added]) => {
      const edited = token.slice(0, at) + added + token.slice(at + removed);
      expect((await opened.reader.read(edited)) !== undefined).toBe(edited === token);
    }),
  );
});

/** The next in the alphabet of base64url: the same bytes when only bits of no byte change. */
function nextCharacter(text: string): string {
  const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  return alphabet[alphabet.indexOf(text.at(-1) ?? "") + 1] ?? "A";
}

test("a verified token is read without waiting until it expires", async () => {
  await using opened = await open();
  const token = await opened.sign();
  const read = () => opened.reader.read(token);
  const first = read();
  expect(first).toBeInstanceOf(Promise);
  expect(read()).toBe(first);
  const own = await first;
  opened.clock.now = (seconds + 599) * 1_000;
  expect(read()).toBe(own);
  // Within the tolerance for clocks it is verified each time.
  opened.clock.now = (seconds + 600) * 1_000;
  for (let count = 0; count < 2; count += 1) {
    const again = read();
    expect(again).toBeInstanceOf(Promise);
    expect(await again).toEqual(own);
  }
  opened.clock.now = (seconds + 630) * 1_000;
  expect(await read()).toBeUndefined();
});

test("a text that is too long for a token is refused without waiting", async () => {
  await using opened = await open();
  expect(opened.reader.read("x".repeat(16_385))).toBeUndefined();
  expect(opened.ring).not.toHaveBeenCalled();
});

test("readers of one token at the same time share its verification", async () => {
  await using opened = await open();
  const token = await opened.sign();
  const reads = Array.from({ length: 50 }, async () => opened.reader.read(token));
  const [first, ...others] = await Promise.all(reads);
  expect(first).toBeDefined();
  // One verification makes one object.
  for (const other of others) expect(other).toBe(first);
  expect(opened.reader.read(token)).toBe(first);
});

test("wrong tokens are not kept: a flood of them pushes no valid one out", async () => {
  await using opened = await open();
  const token = await opened.sign();
  const kept = await opened.reader.read(token);
  const [header = "", body = ""] = token.split(".");
  const unknown = tokenPart({ ...headerOf(token), kid: "unknown" });
  const wrong = Array.from({ length: 10_001 }, (_, index) => `${unknown}.${body}.${tokenPart(`${index}`)}`);
  const unsigned = Array.from({ length: 20 }, (_, index) => `${header}.${body}.${tokenPart(`${index}`)}`);
  const read = await Promise.all([...wrong, ...unsigned].map(async (each) => opened.reader.read(each)));
  expect(read.every((each) => each === undefined)).toBe(true);
  expect(opened.reader.read(token)).toBe(kept);
});
