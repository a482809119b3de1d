import { rename, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";

import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { openBasicAuth, openToAll, type BasicAuth } from "../../../../runtime/gateway/access/basic-auth.ts";
import { LoginThrottle } from "../../../../runtime/gateway/access/login-throttle.ts";
import { tempDirectory, type TempDirectory } from "../../../support/temp-directory.ts";

let directory: TempDirectory;
beforeAll(async () => {
  directory = await tempDirectory("auth");
  await writeFile(join(directory.path, "basic-auth-user"), "admin\n");
  await writeFile(join(directory.path, "basic-auth-password"), "  pass:word\n");
});
afterAll(() => directory?.remove());

const basic = (text: string): string => `Basic ${Buffer.from(text).toString("base64")}`;
const refuses = (auth: BasicAuth, authorization: string): boolean => {
  try {
    auth.check(authorization, authorization);
    return false;
  } catch {
    return true;
  }
};
const code = (value: string) => expect.objectContaining({ code: value });

describe("openBasicAuth()", () => {
  test("accepts the trimmed credentials, whatever the case of the scheme", () => {
    const auth = openBasicAuth(directory.path);
    auth.check(basic("admin:pass:word"), "a");
    auth.check(basic("admin:pass:word").replace("Basic", "bAsIc "), "a");
    auth.check(basic("admin:pass:word").replaceAll("=", ""), "a");
  });

  test.each([undefined, "", "Bearer", "Bearer ", "Basic ", "bearer\t"])("%j is missing", (authorization) => {
    expect(() => openBasicAuth(directory.path).check(authorization, "a")).toThrow(code("credentials_required"));
  });

  test.each([
    "Basic !!",
    "Basic YQ==",
    basic("admin:"),
    basic("admin:pass:word\n"),
    basic("Admin:pass:word"),
    basic(":"),
    "Bearer x",
    "Digest a",
    "pass:word",
  ])("%j is wrong", (authorization) => {
    expect(() => openBasicAuth(directory.path).check(authorization, "a")).toThrow(code("credentials_invalid"));
  });

  test("other credentials that are refused count like passwords, unless they have no address", () => {
    const auth = openBasicAuth(directory.path);
    const refuse = (address?: string) => () => auth.refuse(address);
    for (let count = 0; count < 30; count += 1) expect(refuse()).toThrow(code("credentials_invalid"));
    for (let count = 0; count < 20; count += 1) {
      expect(() => auth.checkThrottle("a")).not.toThrow();
      expect(refuse("a")).toThrow(code("credentials_invalid"));
    }
    expect(() => auth.checkThrottle("a")).toThrow(code("too_many_logins"));
    expect(() => auth.check(basic("admin:pass:word"), "a")).toThrow(code("too_many_logins"));
    auth.check(basic("admin:pass:word"), "b");
  });

  test("no other credentials pass", () => {
    const auth = openBasicAuth(directory.path);
    fc.assert(fc.property(fc.string(), (text) => refuses(auth, `Basic ${text}`) && refuses(auth, basic(text))));
  });

  test.each(["admin:pass:word", "admin:wrong", "admin:", "admin"])(
    "knows the platform's user in %j, whatever the password, without counting",
    (text) => {
      const auth = openBasicAuth(directory.path);
      const plain = basic(text);
      const spelt = [plain, plain.replaceAll("=", ""), plain.replace("Basic ", "bAsIc \t "), ` ${plain} `, `${plain}!`];
      for (const authorization of spelt) {
        for (let count = 0; count < 30; count += 1) expect(auth.namesPlatformUser(authorization)).toBe(true);
      }
      auth.check(basic("admin:pass:word"), "a");
    },
  );

  test.each(["Admin:x", "root:pass:word", ":admin", " admin:x", "administrator:x"])("%j names another user", (text) => {
    expect(openBasicAuth(directory.path).namesPlatformUser(basic(text))).toBe(false);
    expect(openBasicAuth(directory.path).namesPlatformUser(`Bearer ${basic(text)}`)).toBe(false);
  });

  test("wrong ones of calls count, too; beyond the limit right ones fail alike, so guessing gains nothing", () => {
    let now = 0;
    const auth = openBasicAuth(directory.path, () => now);
    for (let count = 0; count < 20; count += 1)
      expect(() => auth.checkCall(basic("admin:guess"), "a")).toThrow(code("credentials_invalid"));
    for (const text of ["admin:guess", "admin:pass:word"])
      expect(() => auth.checkCall(basic(text), "a")).toThrow(code("credentials_invalid"));
    expect(() => auth.check(basic("admin:pass:word"), "a")).toThrow(code("too_many_logins"));
    expect(() => auth.checkCall(undefined, "a")).toThrow(code("credentials_required"));
    auth.checkCall(basic("admin:pass:word"), "b");
    now = 60_000;
    auth.checkCall(basic("admin:pass:word"), "a");
  });

  test("missing ones do not count, wrong ones do, per address and minute", () => {
    let now = 0;
    const auth = openBasicAuth(directory.path, () => now);
    for (let count = 0; count < 30; count += 1)
      expect(() => auth.check(undefined, "a")).toThrow(code("credentials_required"));
    for (let count = 0; count < 20; count += 1)
      expect(() => auth.check(basic("x:y"), "a")).toThrow(code("credentials_invalid"));
    now = 59_999;
    expect(() => auth.check(basic("admin:pass:word"), "a")).toThrow(code("too_many_logins"));
    auth.check(basic("admin:pass:word"), "b");
    now = 60_000;
    auth.check(basic("admin:pass:word"), "a");
  });

  test("reads changed files, and keeps the former values while one is unreadable", async () => {
    await using other = await tempDirectory("auth");
    const [user, password] = [join(other.path, "basic-auth-user"), join(other.path, "basic-auth-password")];
    await writeFile(user, "admin");
    await writeFile(password, "one");
    let now = 0;
    const auth = openBasicAuth(other.path, () => now);
    await writeFile(password, "");
    now += 2_000;
    auth.check(basic("admin:one"), "a");
    await writeFile(`${password}.new`, "two");
    await utimes(`${password}.new`, 1, 1);
    await rename(`${password}.new`, password);
    now += 2_000;
    auth.check(basic("admin:two"), "a");
    expect(() => auth.check(basic("admin:one"), "a")).toThrow(code("credentials_invalid"));
  });

  test("does not start without credentials", async () => {
    await using empty = await tempDirectory("auth");
    expect(() => openBasicAuth(empty.path)).toThrow(
      /^Cannot read credentials ".+basic-auth-user": the file is missing/,
    );
    await writeFile(join(empty.path, "basic-auth-user"), " \n");
    expect(() => openBasicAuth(empty.path)).toThrow(/basic-auth-user": the file is empty/);
  });
});

test("openToAll requires no credentials", () => {
  openToAll.check(undefined, "a");
  openToAll.checkCall(undefined, "a");
  expect(openToAll.namesPlatformUser(basic("admin:pass:word"))).toBe(false);
});

describe("LoginThrottle", () => {
  test("counts a /64 of IPv6 as one", () => {
    const throttle = new LoginThrottle(() => 0);
    for (let host = 0; host < 20; host += 1) throttle.failed(`2001:db8:0:1:0:0:0:${host}`);
    expect(throttle.waitOf("2001:db8:0:1:ffff:0:0:1")).toBe(60_000);
    expect(throttle.waitOf("2001:db8:0:2:0:0:0:1")).toBe(0);
  });

  test("keeps a bounded number of addresses", () => {
    let now = 0;
    const throttle = new LoginThrottle(() => now);
    for (let count = 0; count < 20; count += 1) throttle.failed("first");
    for (let host = 0; host < 9_999; host += 1) throttle.failed(`10.0.${host}`);
    expect(throttle.waitOf("first")).toBe(60_000);
    throttle.failed("one more");
    expect(throttle.waitOf("first")).toBe(0);
    now = 60_000;
    throttle.failed("later");
    expect(throttle.waitOf("10.0.1")).toBe(0);
  });
});
