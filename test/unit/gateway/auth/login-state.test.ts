import { rm } from "node:fs/promises";
import { join } from "node:path";

import { EncryptJWT } from "jose";
import { expect, test } from "vitest";

import { loginStates, type LoginState } from "../../../../runtime/gateway/auth/login/login-state.ts";
import { newKeyPem, publicPem, writeKeyFiles } from "../../../support/key-files.ts";
import { tempDirectory } from "../../../support/temp-directory.ts";

const state: LoginState = { issuer: "idp", state: "s", nonce: "n", verifier: "v", to: "/ui/" };
const now = 1_800_000_000_000;

test("a login state is opened by any gateway with the key, for 10 minutes, also after a rotation", async () => {
  await using one = await tempDirectory("login-1");
  await using two = await tempDirectory("login-2");
  const pem = newKeyPem();
  await writeKeyFiles(one.path, pem);
  await writeKeyFiles(two.path, pem);
  const sealed = await loginStates(one.path).seal(state, now);
  for (const part of Object.values(state))
    expect(Buffer.from(sealed, "base64url").toString("latin1")).not.toContain(`"${part}"`);
  const other = loginStates(two.path);
  expect(await other.open(sealed, now + 599_000)).toEqual(state);
  expect(await other.open(sealed, now + 600_000)).toBeUndefined();

  await writeKeyFiles(two.path, newKeyPem(), pem);
  expect(await other.open(sealed, now)).toEqual(state);
  await writeKeyFiles(two.path, newKeyPem(), publicPem(pem));
  expect(await other.open(sealed, now)).toBeUndefined();
});

test("nothing else is a login state", async () => {
  await using directory = await tempDirectory("login");
  await writeKeyFiles(directory.path, newKeyPem());
  const states = loginStates(directory.path);
  const sealed = await states.seal(state, now);
  const foreign = await new EncryptJWT({ ...state })
    .setProtectedHeader({ alg: "dir", enc: "A256GCM" })
    .setExpirationTime(now / 1_000 + 600)
    .encrypt(new Uint8Array(32));
  const altered = sealed.slice(0, -2) + (sealed.endsWith("AA") ? "BB" : "AA");
  for (const text of ["", "x", "a.b.c.d.e", altered, foreign, JSON.stringify(state)]) {
    expect(await states.open(text, now)).toBeUndefined();
  }
  await rm(join(directory.path, "issuer-key.pem"));
  expect(await states.open(sealed, now)).toBeUndefined();
  await expect(states.seal(state, now)).rejects.toThrow("no private key");
});
