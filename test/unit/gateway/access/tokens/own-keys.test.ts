import { generateKeyPairSync } from "node:crypto";
import { rm, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { calculateJwkThumbprint, createLocalJWKSet, jwtVerify } from "jose";
import { expect, test } from "vitest";

import { openOwnKeys, type OwnKeys } from "../../../../../runtime/gateway/access/tokens/own-keys.ts";
import { newKeyPem, publicPem, writeKeyFiles } from "../../../../support/key-files.ts";
import { tempDirectory } from "../../../../support/temp-directory.ts";
import { claimsOf, headerOf } from "../../../../support/token-keys.ts";

const issuer = "https://weir.example";
const start = 1_700_000_000_000;

/** Keys in a directory, and a clock that stands still. */
async function open(current = newKeyPem(), previous?: string) {
  const directory = await tempDirectory("keys");
  await writeKeyFiles(directory.path, current, previous);
  const clock = { now: start };
  const keys = openOwnKeys({ directory: directory.path, issuer, now: () => clock.now });
  return { directory, clock, keys, current, [Symbol.asyncDispose]: () => directory.remove() };
}

function issue(keys: OwnKeys, now: number): Promise<string> {
  const issuedAt = Math.floor(now / 1_000);
  const claims = { sub: "fed:a", "fed:iss": "x", policy: ["p"], team: "core", iss: "https://evil.example" };
  return keys.sign("api", claims, { issuedAt, expiresAt: issuedAt + 600 });
}

test("a token carries the platform's own names, and its published keys verify it", async () => {
  await using opened = await open();
  const token = await issue(opened.keys, start);
  const [key, ...others] = opened.keys.keySet().keys;
  expect(others).toEqual([]);
  expect(key).toEqual({
    kty: "EC",
    crv: "P-256",
    x: expect.any(String),
    y: expect.any(String),
    kid: await calculateJwkThumbprint({ ...key }),
    alg: "ES256",
    use: "sig",
  });
  expect(headerOf(token)).toEqual({ alg: "ES256", kid: key?.kid, typ: "weir-api+jwt" });
  expect(claimsOf(token)).toEqual({
    sub: "fed:a",
    "fed:iss": "x",
    policy: ["p"],
    team: "core",
    iss: issuer,
    aud: issuer,
    iat: 1_700_000_000,
    exp: 1_700_000_600,
    jti: expect.stringMatching(/^[0-9a-f-]{36}$/),
  });
  const set = createLocalJWKSet({ keys: opened.keys.keySet().keys.map((each) => ({ ...each })) });
  await jwtVerify(token, set, { issuer, audience: issuer, currentDate: new Date(start) });
  expect(await opened.keys.reader.read(token)).toMatchObject({ kind: "api", expiresAt: 1_700_000_600_000 });
});

test("a rotation makes no valid token invalid, and the old key ends with its file", async () => {
  await using opened = await open();
  const { keys, clock, directory, current } = opened;
  const old = await issue(keys, start);
  const next = newKeyPem();
  expect(await keys.reader.read(old)).toBeDefined();

  await writeKeyFiles(directory.path, next, publicPem(current));
  clock.now += 1_000;
  const fresh = await issue(keys, clock.now);
  expect(headerOf(fresh)["kid"]).not.toBe(headerOf(old)["kid"]);
  expect(keys.keySet().keys.map(({ kid }) => kid)).toEqual([headerOf(fresh)["kid"], headerOf(old)["kid"]]);
  for (const token of [old, fresh]) {
    expect(await keys.reader.read(token)).toBeDefined();
    // Without waiting, as it was verified before.
    expect(keys.reader.read(token)).not.toBeInstanceOf(Promise);
  }

  await writeKeyFiles(directory.path, next);
  clock.now += 1_000;
  expect(await keys.reader.read(old)).toBeUndefined();
  expect(await keys.reader.read(fresh)).toBeDefined();
});

test("a gateway that starts long after a rotation signs with the new key, as the one before ends sooner", async () => {
  await using opened = await open();
  const { directory, current } = opened;
  const next = newKeyPem();
  await writeKeyFiles(directory.path, next, current);
  const signedBy = async (rotatedAgo: number | undefined): Promise<unknown> => {
    const file = join(directory.path, "issuer-key-rotated");
    if (rotatedAgo !== undefined) await writeFile(file, new Date(start - rotatedAgo).toISOString());
    const keys = openOwnKeys({ directory: directory.path, issuer, now: () => start });
    const isNew = headerOf(await issue(keys, start))["kid"] === keys.keySet().keys[0]?.kid;
    return isNew ? "new" : "previous";
  };
  expect(await signedBy(undefined)).toBe("previous");
  // One machine has no such note, but the time of its file.
  const made = (start - 3_600_000) / 1_000;
  await utimes(join(directory.path, "issuer-key.pem"), made, made);
  expect(await signedBy(undefined)).toBe("new");
  expect(await signedBy(60_000)).toBe("previous");
  expect(await signedBy(3_600_000)).toBe("new");
});

test("of several gateways none issues what the others cannot verify yet", async () => {
  await using first = await open();
  await using second = await open(first.current);
  const next = newKeyPem();
  // The file of the second gateway comes a minute later.
  await writeKeyFiles(first.directory.path, next, first.current);
  first.clock.now += 1_000;
  expect(first.keys.keySet().keys).toHaveLength(2);
  const meanwhile = await issue(first.keys, first.clock.now);
  second.clock.now += 61_000;
  expect(await second.keys.reader.read(meanwhile)).toBeDefined();

  await writeKeyFiles(second.directory.path, next, first.current);
  for (const { clock } of [first, second]) clock.now = start + 121_000;
  const later = await issue(first.keys, first.clock.now);
  expect(headerOf(later)["kid"]).not.toBe(headerOf(meanwhile)["kid"]);
  expect(await second.keys.reader.read(later)).toBeDefined();
  expect(await first.keys.reader.read(meanwhile)).toBeDefined();
});

test("a gateway that starts while a new key spreads signs with the one before", async () => {
  const [old, next] = [newKeyPem(), newKeyPem()];
  await using opened = await open(next, old);
  await using before = await open(old);
  expect(await before.keys.reader.read(await issue(opened.keys, start))).toBeDefined();
  opened.clock.now += 120_000;
  expect(await before.keys.reader.read(await issue(opened.keys, start))).toBeUndefined();
});

test("a file that cannot be used, or is gone, leaves the keys as they are", async () => {
  await using opened = await open();
  const { keys, clock, directory } = opened;
  const token = await issue(keys, start);
  for (const text of [
    "",
    "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n",
    publicPem(opened.current),
  ]) {
    await writeFile(join(directory.path, "issuer-key.pem"), text);
    clock.now += 1_000;
    expect(await keys.reader.read(token)).toBeDefined();
  }
  await rm(join(directory.path, "issuer-key.pem"));
  clock.now += 1_000;
  expect(await keys.reader.read(await issue(keys, start))).toBeDefined();
});

const other = (type: "ec" | "rsa") =>
  type === "ec"
    ? generateKeyPairSync("ec", { namedCurve: "P-384" }).privateKey
    : generateKeyPairSync("rsa", { modulusLength: 2_048 }).privateKey;

test.each([
  ["nothing", undefined, "the file is missing"],
  ["no PEM", "key", "expected a P-256 key (PEM)"],
  ["a public key", publicPem(newKeyPem()), "expected a private key"],
  ["another curve", other("ec").export({ type: "pkcs8", format: "pem" }), "expected a P-256 key"],
  ["RSA", other("rsa").export({ type: "pkcs8", format: "pem" }), "expected a P-256 key"],
])("keys are not opened with %s in the file", async (_name, text, why) => {
  await using directory = await tempDirectory("keys");
  const file = join(directory.path, "issuer-key.pem");
  if (text !== undefined) await writeFile(file, text);
  expect(() => openOwnKeys({ directory: directory.path, issuer })).toThrow(`Cannot use key "${file}": ${why}`);
});
