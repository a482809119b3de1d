import { randomBytes } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";

import { sessionLifetime, type Session } from "../../runtime/core/ports/session-store.ts";
import { digest, openCredentialFiles } from "../../runtime/gateway/access/credential-files.ts";
import { credentialsDigest, sessionKey } from "../../runtime/gateway/access/sessions/session-secret.ts";
import { eventually } from "../support/eventually.ts";
import { MemorySessionStore } from "../support/memory/memory-session-store.ts";
import { openTestConsole, TestBrowser, type SentHeaders, type TestConsole } from "../support/test-console.ts";

/** What is taken for a session, and what only looks like one. */
let opened: TestConsole;
let browser: TestBrowser;
const store = new MemorySessionStore();

beforeAll(async () => {
  opened = await openTestConsole({ store });
});
afterAll(async () => {
  await opened?.[Symbol.asyncDispose]();
});
beforeEach(async () => {
  browser = new TestBrowser(opened);
  expect((await browser.signIn()).status).toBe(204);
});

const statusOf = async (page: TestBrowser, over: SentHeaders = {}): Promise<number> =>
  (await page.send("GET", "/system/info", undefined, over)).status;
const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
/** The character whose value differs in the lowest bit. */
const besides = (character = "A"): string => alphabet[alphabet.indexOf(character) ^ 1] ?? "";

describe("a cookie", () => {
  test.each<[string, (secret: string, half: string) => string]>([
    ["without its last character", (secret) => secret.slice(0, -1)],
    ["without its first one", (secret) => secret.slice(1)],
    ["with one more", (secret) => `${secret}A`],
    ["with another first one", (secret) => besides(secret[0]) + secret.slice(1)],
    // The last character has two bits that stand for nothing: as bytes, the secret is the same.
    ["with the same bytes written in another way", (secret) => secret.slice(0, -1) + besides(secret.at(-1))],
    ["in quotes", (secret) => `"${secret}"`],
    ["with a percent sign", (secret) => `%${secret.charCodeAt(0).toString(16)}${secret.slice(1)}`],
    ["of the key that the broker keeps it by", (secret) => sessionKey(secret) ?? ""],
    ["of what the page knows", (_, half) => half],
    ["that was made up", () => randomBytes(32).toString("base64url")],
  ])("%s is no session, and ends none", async (_, altered) => {
    const secret = browser.cookies.get("weir-session") ?? "";
    const value = altered(secret, browser.half ?? "");
    expect(value).not.toBe(secret);
    const forged = { cookie: `weir-session=${value}` };
    expect(await statusOf(browser, forged)).toBe(401);
    expect((await browser.send("GET", "/auth/session", undefined, forged)).status).toBe(401);
    expect((await browser.send("POST", "/auth/logout", undefined, forged)).status).toBe(204);
    browser.cookies.set("weir-session", secret);
    expect(await statusOf(browser)).toBe(200);
  });

  test.each<[string, (half: string, secret: string) => string]>([
    ["nothing", () => ""],
    ["a part of it", (half) => half.slice(0, -1)],
    ["it twice", (half) => `${half}, ${half}`],
    ["the secret itself", (_, secret) => secret],
  ])("whose page says %s counts for nothing on http", async (_, said) => {
    const secret = browser.cookies.get("weir-session") ?? "";
    expect(await statusOf(browser, { "x-weir-session": said(browser.half ?? "", secret) })).toBe(401);
    expect(await statusOf(browser)).toBe(200);
  });

  test("of one session with the page of another counts as neither", async () => {
    const other = new TestBrowser(opened);
    await other.signIn();
    expect(await statusOf(browser, { "x-weir-session": other.half ?? "" })).toBe(401);
    expect(await statusOf(other, { "x-weir-session": browser.half ?? "" })).toBe(401);
    expect([await statusOf(browser), await statusOf(other)]).toEqual([200, 200]);
  });
});

describe("an entry of the store", () => {
  const half = randomBytes(32).toString("base64url");
  /** A browser whose session another gateway stored. */
  async function browserWith(change: (session: Session, secret: string) => Partial<Session>): Promise<TestBrowser> {
    const secret = randomBytes(32).toString("base64url");
    const session: Session = {
      via: "basic",
      subject: "admin",
      claims: {},
      credentials: credentialsDigest(secret, openCredentialFiles(opened.platform.directory)()),
      publicHalf: half,
      expiresAt: Date.now() + sessionLifetime,
    };
    await store.create(sessionKey(secret) ?? "", { ...session, ...change(session, secret) });
    const page = new TestBrowser(opened);
    page.cookies.set("weir-session", secret);
    page.half = half;
    return page;
  }

  test("is a session", async () => {
    expect(await statusOf(await browserWith(() => ({})))).toBe(200);
  });

  test.each<[string, (session: Session, secret: string) => Partial<Session>]>([
    ["that has expired", () => ({ expiresAt: Date.now() - 1 })],
    [
      "with a digest of something else",
      ({ credentials = "" }) => ({ credentials: credentials.split("").toReversed().join("") }),
    ],
    [
      "of another password",
      (_, secret) => ({ credentials: credentialsDigest(secret, { user: digest("admin"), password: digest("x") }) }),
    ],
    ["of an empty digest", () => ({ credentials: "" })],
    ["of an issuer that nobody trusts", () => ({ via: "issuer", issuer: "https://issuer.example", subject: "admin" })],
  ])("%s is none", async (_, change) => {
    const page = await browserWith(change);
    expect(await statusOf(page)).toBe(401);
    expect((await page.send("GET", "/auth/session")).status).toBe(401);
  });
});

test.each(["basic-auth-user", "basic-auth-password"])("a session counts only while %s is as it was", async (name) => {
  const file = join(opened.platform.directory, name);
  const before = await readFile(file, "utf8");
  await writeFile(file, "another");
  await eventually(async () => (await statusOf(browser)) === 401, { what: "the end of the session" });
  await writeFile(file, before);
  await eventually(async () => (await statusOf(browser)) === 200, { what: "the old credentials" });
});

describe("a sign-out", () => {
  test("ends the session of this browser, and no other of the same person", async () => {
    const other = new TestBrowser(opened);
    await other.signIn();
    const { half } = browser;
    const cookie = `weir-session=${browser.cookies.get("weir-session")}`;
    expect((await browser.send("POST", "/auth/logout")).status).toBe(204);
    expect(await statusOf(browser, { cookie, "x-weir-session": half ?? "" })).toBe(401);
    expect(await statusOf(other)).toBe(200);
  });

  test("is possible for a page that does not know its session, and for nobody at all", async () => {
    const cookie = `weir-session=${browser.cookies.get("weir-session")}`;
    const { half = "" } = browser;
    browser.half = undefined;
    expect((await browser.send("POST", "/auth/logout")).status).toBe(204);
    expect(await statusOf(browser, { cookie, "x-weir-session": half })).toBe(401);
    expect((await new TestBrowser(opened).send("POST", "/auth/logout")).status).toBe(204);
  });
});
