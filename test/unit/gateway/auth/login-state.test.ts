import { rm } from "node:fs/promises";

import { EncryptJWT } from "jose";
import { expect, test } from "vitest";

import { openOwnKeys } from "../../../../runtime/gateway/access/tokens/own-keys.ts";
import { loginStates, type LoginState } from "../../../../runtime/gateway/auth/login/login-state.ts";
import { newKeyPem, publicPem, writeKeyFiles } from "../../../support/key-files.ts";
import { tempDirectory } from "../../../support/temp-directory.ts";

const state: LoginState = { issuer: "idp", state: "s", nonce: "n", verifier: "v", to: "/ui/" };
const now = 1_800_000_000_000;

/** The login states of a gateway with these keys, and its clock. */
async function open(current: string, previous?: string) {
  const directory = await tempDirectory("login");
  await writeKeyFiles(directory.path, current, previous);
  const clock = { now };
  const keys = openOwnKeys({ directory: directory.path, issuer: "https://weir.example", now: () => clock.now });
  return {
    ...loginStates(keys),
    clock,
    directory,
    /** Replaces the files; the keys are read again after a second. */
    rotate: async (next: string, last?: string) => {
      await writeKeyFiles(directory.path, next, last);
      clock.now += 1_000;
    },
    [Symbol.asyncDispose]: () => directory.remove(),
  };
}

test("a login state is opened by any gateway with the key, for 10 minutes, also after a rotation", async () => {
  const pem = newKeyPem();
  await using one = await open(pem);
  await using two = await open(pem);
  const sealed = await one.seal(state, now);
  for (const part of Object.values(state))
    expect(Buffer.from(sealed, "base64url").toString("latin1")).not.toContain(`"${part}"`);
  expect(await two.open(sealed, now + 599_000)).toEqual(state);
  expect(await two.open(sealed, now + 600_000)).toBeUndefined();

  await two.rotate(newKeyPem(), pem);
  expect(await two.open(sealed, now)).toEqual(state);
  await two.rotate(newKeyPem(), publicPem(pem));
  expect(await two.open(sealed, now)).toBeUndefined();
});

test("while a new key spreads, no gateway seals what the others cannot open", async () => {
  const [old, next] = [newKeyPem(), newKeyPem()];
  await using first = await open(old);
  await using second = await open(old);
  await first.rotate(next, old);
  const meanwhile = await first.seal(state, now);
  expect(await second.open(meanwhile, now)).toEqual(state);

  first.clock.now += 120_000;
  const later = await first.seal(state, now);
  expect(await second.open(later, now)).toBeUndefined();
  await second.rotate(next, old);
  for (const sealed of [meanwhile, later]) {
    expect(await first.open(sealed, now)).toEqual(state);
    expect(await second.open(sealed, now)).toEqual(state);
  }
});

test("a sign-in needs no file: it goes on when they are gone", async () => {
  await using gateway = await open(newKeyPem());
  await rm(gateway.directory.path, { recursive: true });
  const sealed = await gateway.seal(state, now);
  gateway.clock.now += 1_000;
  expect(await gateway.open(sealed, now)).toEqual(state);
});

test("nothing else is a login state", async () => {
  await using states = await open(newKeyPem());
  await using other = await open(newKeyPem());
  const sealed = await states.seal(state, now);
  const foreign = await new EncryptJWT({ ...state })
    .setProtectedHeader({ alg: "dir", enc: "A256GCM" })
    .setExpirationTime(now / 1_000 + 600)
    .encrypt(new Uint8Array(32));
  const altered = sealed.slice(0, -2) + (sealed.endsWith("AA") ? "BB" : "AA");
  const strange = await other.seal(state, now);
  for (const text of ["", "x", "a.b.c.d.e", altered, foreign, strange, JSON.stringify(state)]) {
    expect(await states.open(text, now)).toBeUndefined();
  }
});
