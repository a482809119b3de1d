import { randomBytes } from "node:crypto";
import { rename, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";

import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { PlatformError } from "../../../../runtime/api/platform-error.ts";
import { noRules } from "../../../../runtime/core/access/rule-set.ts";
import { createAuthenticator } from "../../../../runtime/gateway/access/authenticator.ts";
import { openBasicAuth, openToAll, type BasicAuth } from "../../../../runtime/gateway/access/basic-auth.ts";
import { LoginThrottle } from "../../../../runtime/gateway/access/login-throttle.ts";
import { TokenHolders } from "../../../../runtime/gateway/access/token-holders.ts";
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

  test.each(["Bearer expired.token.x", "Digest a", "Basic !!", "Basic YQ==", undefined])(
    "%j is no attempt at a password: any number of them locks out nobody",
    (authorization) => {
      const auth = openBasicAuth(directory.path);
      for (let count = 0; count < 600; count += 1) {
        expect(() => auth.check(authorization, "a")).toThrow(/^Cannot answer/);
        expect(() => auth.refuse()).toThrow(code("credentials_invalid"));
      }
      auth.check(basic("admin:pass:word"), "a");
    },
  );

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

  /** Sends `count` wrong passwords for `user`; the codes of the refusals, each once. */
  const guess = (auth: BasicAuth, count: number, user = "admin", address = "a"): readonly string[] => {
    const codes = new Set<string>();
    for (let index = 0; index < count; index += 1) {
      try {
        auth.check(basic(`${user}:guess ${index}`), address);
      } catch (err) {
        codes.add(err instanceof PlatformError ? err.code : String(err));
      }
    }
    return [...codes];
  };
  const limited = ["credentials_invalid", "too_many_logins"];

  test("wrong ones are counted by address, user and minute, missing ones are not", () => {
    let now = 0;
    const auth = openBasicAuth(directory.path, () => now);
    for (let count = 0; count < 30; count += 1)
      expect(() => auth.check(undefined, "a")).toThrow(code("credentials_required"));
    expect(guess(auth, 20)).toEqual(["credentials_invalid"]);
    now = 59_999;
    expect(() => auth.check(basic("admin:pass:word"), "a")).toThrow(code("too_many_logins"));
    auth.check(basic("admin:pass:word"), "b");
    now = 60_000;
    auth.check(basic("admin:pass:word"), "a");
  });

  test("wrong ones for other users lock out nobody, until the address sent 500", () => {
    const auth = openBasicAuth(directory.path, () => 0);
    for (let count = 0; count < 499; count += 1) guess(auth, 1, `user ${count}`);
    expect(() => auth.checkPassword({ user: "admin", password: "pass:word" }, "a")).not.toThrow();
    guess(auth, 1, "one more");
    expect(guess(auth, 1)).toEqual(["too_many_logins"]);
    auth.check(basic("admin:pass:word"), "b");
  });

  test("an address that sent the right one in the last 24 h goes on with it while others there guess", () => {
    let now = 0;
    const auth = openBasicAuth(directory.path, () => now);
    auth.check(basic("admin:pass:word"), "a");
    now = 23 * 3_600_000;
    expect(guess(auth, 400)).toEqual(limited);
    auth.check(basic("admin:pass:word"), "a");
    auth.checkCall(basic("admin:pass:word"), "a");
    // Guesses that are compared all the same are bounded by the limit of the address.
    guess(auth, 100);
    expect(() => auth.check(basic("admin:pass:word"), "a")).toThrow(code("too_many_logins"));
    now += 25 * 3_600_000;
    guess(auth, 20);
    expect(() => auth.check(basic("admin:pass:word"), "a")).toThrow(code("too_many_logins"));
  });

  test("a password that cannot be guessed is right however many wrong ones its address sent; those are slowed", async () => {
    await using other = await tempDirectory("auth");
    const password = randomBytes(24).toString("base64url");
    await writeFile(join(other.path, "basic-auth-user"), "admin");
    await writeFile(join(other.path, "basic-auth-password"), password);
    const auth = openBasicAuth(other.path, () => 0);
    expect(guess(auth, 2_000)).toEqual(limited);
    auth.check(basic(`admin:${password}`), "a");
    auth.checkCall(basic(`admin:${password}`), "a");
    auth.checkPassword({ user: "admin", password }, "a");
    expect(guess(auth, 1)).toEqual(["too_many_logins"]);
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

test("createAuthenticator(): expired tokens lock out neither a right password nor a valid token", async () => {
  const auth = openBasicAuth(directory.path);
  const valid = { kind: "api", claims: { sub: "fed:alice" }, policies: new Set<string>(), expiresAt: 1 } as const;
  const reader = { read: (token: string) => (token === "valid" ? valid : undefined) };
  const { identify } = createAuthenticator(auth, new TokenHolders(reader, () => noRules));
  for (let count = 0; count < 600; count += 1)
    await expect(identify("Bearer expired", "a")).rejects.toThrow(code("credentials_invalid"));
  expect((await identify(basic("admin:pass:word"), "a")).via).toBe("basic");
  for (let count = 0; count < 600; count += 1) await identify(basic("admin:guess"), "a").catch(() => {});
  expect((await identify("Bearer valid", "a")).via).toBe("token");
});

describe("LoginThrottle", () => {
  const fail = (throttle: LoginThrottle, address: string, count = 1, user = "admin"): void => {
    for (let index = 0; index < count; index += 1) throttle.failed({ address, user });
  };
  const waitMs = (throttle: LoginThrottle, address: string): number => throttle.waitMsOf({ address, user: "admin" });

  test("counts a /64 of IPv6 as one, and 500 of a /48", () => {
    const throttle = new LoginThrottle(() => 0);
    for (let host = 0; host < 20; host += 1) fail(throttle, `2001:db8:0:1:0:0:0:${host}`);
    expect(waitMs(throttle, "2001:db8:0:1:ffff:0:0:1")).toBe(60_000);
    expect(waitMs(throttle, "2001:db8:0:2:0:0:0:1")).toBe(0);
    for (let net = 2; net < 482; net += 1) fail(throttle, `2001:db8:0:${net.toString(16)}::1`);
    expect(waitMs(throttle, "2001:db8:0:ffff::1")).toBe(60_000);
    expect(waitMs(throttle, "2001:db8:1:1::1")).toBe(0);
  });

  test("an address cannot push out its own count by the names of many users", () => {
    const throttle = new LoginThrottle(() => 0);
    fail(throttle, "a", 20);
    for (let index = 0; index < 400; index += 1) fail(throttle, "a", 1, `user ${index}`);
    expect(waitMs(throttle, "a")).toBe(60_000);
    expect(throttle.waitMsOf({ address: "a", user: "user 1" })).toBe(0);
  });

  test("keeps a bounded number of users", () => {
    const throttle = new LoginThrottle(() => 0);
    fail(throttle, "first", 20);
    for (let index = 0; index < 99_999; index += 1) fail(throttle, `10.0.${index % 1_000}`, 1, `user ${index}`);
    expect(waitMs(throttle, "first")).toBe(60_000);
    fail(throttle, "10.0.1", 1, "one more");
    expect(waitMs(throttle, "first")).toBe(0);
  });

  test("keeps a bounded number of addresses", () => {
    let now = 0;
    const throttle = new LoginThrottle(() => now);
    throttle.passed("first", "right");
    fail(throttle, "first", 20);
    for (let host = 0; host < 9_999; host += 1) {
      fail(throttle, `10.0.${host}`);
      throttle.passed(`10.0.${host}`, "right");
    }
    expect(waitMs(throttle, "first")).toBe(60_000);
    expect(throttle.isKnown("first", "right")).toBe(true);
    expect(throttle.isKnown("first", "another")).toBe(false);
    fail(throttle, "one more");
    throttle.passed("one more", "right");
    expect(waitMs(throttle, "first")).toBe(0);
    expect(throttle.isKnown("first", "right")).toBe(false);
    now = 60_000;
    fail(throttle, "later");
    expect(waitMs(throttle, "10.0.1")).toBe(0);
  });
});
