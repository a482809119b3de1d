import { chmod, chown, lstat, readFile, rename, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { describe, expect, test } from "vitest";

import type { GatewayCredentials } from "../../../../runtime/cli/client/gateway-credentials.ts";
import {
  removeAllCredentials,
  storeCredentials,
  storedCredentials,
} from "../../../../runtime/cli/gateways/stored-credentials.ts";
import { tempDirectory } from "../../../support/temp-directory.ts";

const basic: GatewayCredentials = { kind: "basic", user: "admin", password: "p: 'w\n#\u00E9" };
const bearer: GatewayCredentials = { kind: "bearer", token: "abc.def" };

async function place() {
  const { path, remove } = await tempDirectory("stored-credentials");
  return { path, file: join(path, "credentials.yaml"), [Symbol.asyncDispose]: remove };
}

test("credentials are stored by address, and found for exactly that one", async () => {
  await using at = await place();
  expect(await storedCredentials(at.file, "https://a")).toBeUndefined();
  expect(await storeCredentials(at.file, "https://a", basic)).toBeUndefined();
  expect(await storeCredentials(at.file, "https://a/team", bearer)).toBeUndefined();
  expect(await storedCredentials(at.file, "https://a")).toEqual(basic);
  expect(await storedCredentials(at.file, "https://a/team")).toEqual(bearer);
  for (const other of ["http://a", "https://a:8443", "https://b", "https://a/", "toString", "__proto__"])
    expect(await storedCredentials(at.file, other)).toBeUndefined();
  expect((await stat(at.file)).mode & 0o777).toBe(0o600);
});

test("a sign-in is stored with all that renews it, and not read if that is broken", async () => {
  await using at = await place();
  const signIn = { expiresAt: "2026-01-31T12:00:00.000Z", issuer: "https://a", clientId: "weir", refreshToken: "r" };
  const { refreshToken: _, ...once } = signIn;
  for (const each of [signIn, once]) {
    await storeCredentials(at.file, "https://a", { kind: "bearer", token: "t", signIn: each });
    expect(await storedCredentials(at.file, "https://a")).toEqual({ kind: "bearer", token: "t", signIn: each });
  }
  for (const over of [{ expiresAt: "soon" }, { issuer: "a" }, { clientId: 1 }, { refreshToken: {} }]) {
    const value = { "https://a": { kind: "bearer", token: "t", signIn: { ...signIn, ...over } } };
    await writeFile(at.file, JSON.stringify(value), { mode: 0o600 });
    await expect(storedCredentials(at.file, "https://a"), JSON.stringify(over)).rejects.toMatchObject({ exit: 4 });
  }
});

test("they are replaced and removed, others stay", async () => {
  await using at = await place();
  await storeCredentials(at.file, "https://a", basic);
  await storeCredentials(at.file, "https://b", basic);
  expect(await storeCredentials(at.file, "https://a", bearer)).toEqual(basic);
  expect(await storeCredentials(at.file, "https://b", undefined)).toEqual(basic);
  expect(await storeCredentials(at.file, "https://b", undefined)).toBeUndefined();
  expect(await storedCredentials(at.file, "https://a")).toEqual(bearer);
  expect(await storedCredentials(at.file, "https://b")).toBeUndefined();
  expect(await removeAllCredentials(at.file)).toEqual({ "https://a": bearer });
  expect(await storedCredentials(at.file, "https://a")).toBeUndefined();
  expect(await readFile(at.file, "utf8")).not.toContain("abc.def");
});

describe("a file that cannot be trusted is exit code 4, to read and to change", () => {
  const attempts = (file: string, uid?: number) => [
    () => storedCredentials(file, "https://a", uid),
    ...(uid === undefined ? [() => storeCredentials(file, "https://b", bearer), () => removeAllCredentials(file)] : []),
  ];

  test.each([0o644, 0o640, 0o602, 0o660])("mode %o", async (mode) => {
    await using at = await place();
    await storeCredentials(at.file, "https://a", basic);
    const before = await readFile(at.file, "utf8");
    await chmod(at.file, mode);
    for (const attempt of attempts(at.file))
      await expect(attempt()).rejects.toMatchObject({
        exit: 4,
        message: `Cannot use credentials: "${at.file}" can be read by others; chmod 600 it`,
      });
    expect(await readFile(at.file, "utf8")).toBe(before);
  });

  test("a link to one that others can read", async () => {
    await using at = await place();
    const target = join(at.path, "target");
    await storeCredentials(target, "https://a", basic);
    await chmod(target, 0o644);
    await symlink(target, at.file);
    for (const attempt of attempts(at.file)) await expect(attempt()).rejects.toMatchObject({ exit: 4 });
  });

  test.each(["a: [", "https://a: secret", "https://a: { kind: basic, user: x }", "https://a: { kind: bearer }", "- 1"])(
    "content %j",
    async (text) => {
      await using at = await place();
      await writeFile(at.file, text, { mode: 0o600 });
      for (const attempt of attempts(at.file))
        await expect(attempt()).rejects.toMatchObject({
          exit: 4,
          message: `Cannot use credentials: "${at.file}" cannot be read; correct or remove it`,
        });
      expect(await readFile(at.file, "utf8")).toBe(text);
    },
  );

  test("another owner", async () => {
    await using at = await place();
    await storeCredentials(at.file, "https://a", basic);
    const own = process.getuid?.() ?? 0;
    // Root can give it away; the file of anybody else is a foreign one to their neighbour.
    const isRoot = own === 0;
    if (isRoot) await chown(at.file, 12_345, 12_345);
    for (const attempt of attempts(at.file, isRoot ? undefined : own + 1))
      await expect(attempt()).rejects.toMatchObject({
        exit: 4,
        message: `Cannot use credentials: "${at.file}" belongs to another user`,
      });
  });
});

test("a link is replaced by a file, and what it led to stays", async () => {
  await using at = await place();
  const target = join(at.path, "target");
  await storeCredentials(at.file, "https://a", basic);
  await rename(at.file, target);
  await symlink(target, at.file);
  await storeCredentials(at.file, "https://b", bearer);
  expect((await lstat(at.file)).isFile()).toBe(true);
  expect(await storedCredentials(at.file, "https://a")).toEqual(basic);
  expect(await storedCredentials(target, "https://b")).toBeUndefined();
});
