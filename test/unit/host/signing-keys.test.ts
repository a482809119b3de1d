import { createPrivateKey, createPublicKey } from "node:crypto";
import { link, readdir, readFile, rm, stat, utimes } from "node:fs/promises";
import { join } from "node:path";

import { afterEach, beforeEach, describe, expect, test } from "vitest";

import { openCredentials } from "../../../runtime/host/credentials.ts";
import { signingKeyOverlap, type SigningKeyUse } from "../../../runtime/api/iam/signing-keys.ts";
import { rotateSigningKey } from "../../../runtime/cli/gateways/rotate-signing-key.ts";
import { dropPreviousKeys, followPreviousKeys } from "../../../runtime/host/signing-keys.ts";
import { eventually } from "../../support/eventually.ts";
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

  test("the previous one is dropped once nothing that it signed is valid", async () => {
    await rotateSigningKey(place.path, use);
    const rotatedAt = Math.floor((await stat(join(place.path, current))).mtimeMs);
    await dropPreviousKeys(place.path, rotatedAt + signingKeyOverlap);
    expect(await readdir(place.path)).toContain(previous);
    await dropPreviousKeys(place.path, rotatedAt + signingKeyOverlap + 2);
    expect((await readdir(place.path)).toSorted()).toEqual(made);
  });

  test("the key that a rotation has not replaced yet is not dropped as the previous one", async () => {
    const long = new Date(Date.now() - 2 * signingKeyOverlap);
    await utimes(join(place.path, current), long, long);
    // The first half of a rotation.
    await link(join(place.path, current), join(place.path, previous));
    await dropPreviousKeys(place.path, Date.now());
    expect(await readdir(place.path)).toContain(previous);
  });
});

test("a start drops previous keys once nothing that they signed is valid", async () => {
  await rotateSigningKey(place.path, "callbacks");
  await rotateSigningKey(place.path, "tokens");
  const previous = ["callback-key-previous.pem", "issuer-key-previous.pem"];
  await openCredentials(place.path, Date.now() + signingKeyOverlap - 60_000);
  expect((await readdir(place.path)).toSorted()).toEqual([...made, ...previous].toSorted());
  await openCredentials(place.path, Date.now() + signingKeyOverlap + 1_000);
  expect((await readdir(place.path)).toSorted()).toEqual(made);
});

describe("followPreviousKeys()", () => {
  const previous = ["callback-key-previous.pem", "issuer-key-previous.pem"];

  test("drops them without a start, also after another rotation", async () => {
    let [time, looks] = [Date.now(), 0];
    const now = () => {
      looks += 1;
      return time;
    };
    const failures: unknown[] = [];
    const following = followPreviousKeys(place.path, { now, interval: 5, onError: (err) => failures.push(err) });
    const isDropped = async () => !(await readdir(place.path)).some((file) => previous.includes(file));
    try {
      for (const use of ["callbacks", "tokens"] as const) {
        time = Date.now() + signingKeyOverlap - 60_000;
        await rotateSigningKey(place.path, use);
        const seen = looks;
        await eventually(() => looks > seen + 2, { what: "two looks" });
        expect(await isDropped()).toBe(false);
        time = Date.now() + signingKeyOverlap + 1_000;
        await eventually(isDropped, { what: "the previous key to go" });
      }
    } finally {
      await following.close();
    }
    expect(failures).toEqual([]);
    expect((await readdir(place.path)).toSorted()).toEqual(made);
    const seen = looks;
    await rotateSigningKey(place.path, "tokens");
    expect([looks, await isDropped()]).toEqual([seen, false]);
  });

  test("reports a key that cannot be read, and goes on", async () => {
    await rotateSigningKey(place.path, "tokens");
    const hidden = join(place.path, "callback-key.pem");
    await link(hidden, `${hidden}.hidden`);
    await rm(hidden);
    const failures: unknown[] = [];
    const now = () => Date.now() + signingKeyOverlap + 1_000;
    const following = followPreviousKeys(place.path, { now, interval: 5, onError: (err) => failures.push(err) });
    try {
      await eventually(() => failures.length > 0, { what: "the report" });
      expect(String(failures[0])).toContain("ENOENT");
      await link(`${hidden}.hidden`, hidden);
      await rm(`${hidden}.hidden`);
      await eventually(async () => (await readdir(place.path)).length === made.length, { what: "the key to go" });
    } finally {
      await following.close();
    }
  });

  test("keeps no process alive", async () => {
    const timers = () => process.getActiveResourcesInfo().filter((kind) => kind === "Timeout").length;
    const before = timers();
    const following = followPreviousKeys(place.path, { onError: () => {} });
    expect(timers()).toBe(before);
    await following.close();
  });
});

test("a directory without a key has none to rotate, and gets none by that", async () => {
  await using empty = await tempDirectory("signing-keys");
  await expect(rotateSigningKey(empty.path, "callbacks")).rejects.toThrow("ENOENT");
  expect(await readdir(empty.path)).toEqual([]);
});
