import { createPrivateKey, createPublicKey } from "node:crypto";
import { readdir, readFile, stat, utimes } from "node:fs/promises";
import { join } from "node:path";

import { afterEach, beforeEach, describe, expect, test } from "vitest";

import { openCredentials } from "../../../runtime/host/credentials.ts";
import type { SigningKeyUse } from "../../../runtime/api/iam/signing-keys.ts";
import { rotateSigningKey } from "../../../runtime/cli/gateways/rotate-signing-key.ts";
import { dropPreviousKey } from "../../../runtime/host/signing-keys.ts";
import { tempDirectory, type TempDirectory } from "../../support/temp-directory.ts";

let place: TempDirectory;
const text = (name: string) => readFile(join(place.path, name), "utf8");
const made = [
  "basic-auth-password",
  "basic-auth-user",
  "callback-key.pem",
  "invoke-key",
  "issuer-key.pem",
  "workload-key.pem",
];

beforeEach(async () => {
  place = await tempDirectory("signing-keys");
  await openCredentials(place.path);
});
afterEach(() => place.remove());

test("the keys are private ones of their kinds, as PKCS #8 in PEM", async () => {
  const callbacks = createPrivateKey(await text("callback-key.pem"));
  expect(callbacks.asymmetricKeyType).toBe("ed25519");
  const tokens = createPrivateKey(await text("issuer-key.pem"));
  expect(createPublicKey(tokens).export({ format: "jwk" })).toMatchObject({ kty: "EC", crv: "P-256" });
  expect(await text("issuer-key.pem")).toMatch(/^-----BEGIN PRIVATE KEY-----\n[^]+\n-----END PRIVATE KEY-----\n$/);
});

describe.each<[SigningKeyUse, string, string]>([
  ["callbacks", "callback-key.pem", "callback-key-previous.pem"],
  ["tokens", "issuer-key.pem", "issuer-key-previous.pem"],
])("rotateSigningKey() of the key of %s", (use, current, previous) => {
  test("keeps the replaced key as the previous one, for the owner alone, and leaves nothing else", async () => {
    const first = await text(current);
    await rotateSigningKey(place.path, use);
    const second = await text(current);
    expect(second).not.toBe(first);
    expect(await text(previous)).toBe(first);
    await rotateSigningKey(place.path, use);
    expect(await text(previous)).toBe(second);
    expect((await readdir(place.path)).toSorted()).toEqual([...made, previous].toSorted());
    for (const file of [current, previous]) expect((await stat(join(place.path, file))).mode & 0o777).toBe(0o600);
  });

  test("the next start keeps both", async () => {
    await rotateSigningKey(place.path, use);
    const both = [await text(current), await text(previous)];
    await openCredentials(place.path);
    expect([await text(current), await text(previous)]).toEqual(both);
  });

  test("the previous one is dropped once the current one is older than the overlap", async () => {
    await rotateSigningKey(place.path, use);
    const now = Date.now();
    const day = 86_400_000;
    await dropPreviousKey(place.path, use, { overlap: day, now });
    expect(await readdir(place.path)).toContain(previous);
    const before = new Date(now - day - 1_000);
    await utimes(join(place.path, current), before, before);
    await dropPreviousKey(place.path, use, { overlap: day, now });
    expect((await readdir(place.path)).toSorted()).toEqual(made);
  });
});

test("a start drops previous keys once nothing that they signed is valid", async () => {
  await rotateSigningKey(place.path, "callbacks");
  await rotateSigningKey(place.path, "tokens");
  await openCredentials(place.path, Date.now() + 24.2 * 3_600_000);
  expect((await readdir(place.path)).toSorted()).toEqual([...made, "issuer-key-previous.pem"].toSorted());
  await openCredentials(place.path, Date.now() + 25 * 3_600_000);
  expect((await readdir(place.path)).toSorted()).toEqual(made.toSorted());
});

test("a directory without a key has none to rotate, and gets none by that", async () => {
  await using empty = await tempDirectory("signing-keys");
  await expect(rotateSigningKey(empty.path, "callbacks")).rejects.toThrow("ENOENT");
  expect(await readdir(empty.path)).toEqual([]);
});
