import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";

import type { ObservedAccess } from "../../runtime/gateway/access/access-observer.ts";
import { openToAll, type BasicAuth } from "../../runtime/gateway/access/basic-auth.ts";
import { digest } from "../../runtime/gateway/access/credential-files.ts";
import { eventually } from "../support/eventually.ts";
import { FakeTokens } from "../support/fake-tokens.ts";
import { MemorySessionStore } from "../support/memory/memory-session-store.ts";
import { openTestConsole, TestBrowser, type TestConsole } from "../support/test-console.ts";

/** Sessions that are asked for one by one. */
class CountedSessions extends MemorySessionStore {
  asked = 0;

  override get(...asked: Parameters<MemorySessionStore["get"]>): ReturnType<MemorySessionStore["get"]> {
    this.asked += 1;
    return super.get(...asked);
  }
}

/** The listener of the console, its sessions and its rules for senders. */
let opened: TestConsole;
let browser: TestBrowser;
const store = new MemorySessionStore();
const tokens = new FakeTokens();
const refused: ObservedAccess[] = [];
const changed: ObservedAccess[] = [];

beforeAll(async () => {
  const observer = {
    refused: (each: ObservedAccess) => refused.push(each),
    changed: (each: ObservedAccess) => changed.push(each),
  };
  opened = await openTestConsole({ store, app: { tokens: tokens.parts, observer } });
});
afterAll(async () => {
  await opened?.[Symbol.asyncDispose]();
});
beforeEach(() => {
  browser = new TestBrowser(opened);
  store.away = 0;
  refused.length = 0;
  changed.length = 0;
});

async function codeOf(response: Promise<Response> | Response): Promise<[number, string]> {
  const found = await response;
  const { code }: { readonly code: string } = JSON.parse(await found.text());
  return [found.status, code];
}

describe("a session with the administrator's credentials", () => {
  test("is opened, shown, used on /system, and ended", async () => {
    const reply = await browser.signIn();
    expect(reply.status).toBe(204);
    const cookies = reply.headers.getSetCookie();
    expect(cookies.at(-1)).toMatch(/^weir-session=[\w-]{43}; Path=\/; Max-Age=28800; HttpOnly; SameSite=Strict$/);
    // Of them all, the one at `/` is in a partition alone: it comes before the session's own.
    const others = ["/system", "/auth", "/ui", "/auth/", "/auth/session"];
    expect(endedBy(reply)).toEqual({ whole: others, parted: ["/", ...others] });
    expect(cookies).toHaveLength(12);

    const shown = await browser.send("GET", "/auth/session");
    expect(shown.status).toBe(200);
    const info: Record<string, unknown> = JSON.parse(await shown.text());
    expect(info).toMatchObject({ user: "admin", via: "basic", gateway: "http://gateway.example:8080" });
    expect(info["actions"]).toEqual(expect.arrayContaining(["Function:List", "System:Info"]));
    const inHours = (Date.parse(String(info["expiresAt"])) - Date.now()) / 3_600_000;
    expect(inHours > 7.9 && inHours <= 8).toBe(true);

    const who = await browser.send("GET", "/system/iam/whoami");
    expect(JSON.parse(await who.text())).toMatchObject({ subject: "admin", via: "session", administrator: true });
    const deployed = await browser.send("PUT", "/system/functions", { service: "hello", image: "acme/hello:1" });
    expect(deployed.status).toBe(202);

    const old = new Map(browser.cookies);
    expect((await browser.send("POST", "/auth/logout")).status).toBe(204);
    expect(browser.cookies.size).toBe(0);
    for (const [name, value] of old) browser.cookies.set(name, value);
    expect(await codeOf(browser.send("GET", "/system/info"))).toEqual([401, "credentials_invalid"]);
    expect(changed.map(({ action, principal }) => `${action} ${principal?.via}`)).toEqual([
      "signIn session",
      "Function:Create session",
      "signOut session",
    ]);
  });

  test("ends when the administrator has another password", async () => {
    await using other = await openTestConsole();
    const page = new TestBrowser(other);
    expect((await page.signIn()).status).toBe(204);
    expect((await page.send("GET", "/system/info")).status).toBe(200);
    const { directory, user } = other.platform;
    await writeFile(join(directory, "basic-auth-password"), "another");
    await eventually(async () => (await page.send("GET", "/system/info")).status === 401, { what: "the end" });
    expect((await page.signIn()).status).toBe(401);
    expect((await page.send("POST", "/auth/session", { user, password: "another" })).status).toBe(204);
    expect((await page.send("GET", "/system/info")).status).toBe(200);
  });

  test("opened with a password that is replaced at that moment is over", async () => {
    const replaced = { user: digest("admin"), password: digest("another") };
    const auth: BasicAuth = { ...openToAll, via: "basic", credentials: () => replaced };
    await using other = await openTestConsole({ app: { auth } });
    const page = new TestBrowser(other);
    expect((await page.signIn()).status).toBe(204);
    expect(await codeOf(page.send("GET", "/system/info"))).toEqual([401, "credentials_invalid"]);
  });

  test("is replaced by the next one of the same browser", async () => {
    await browser.signIn();
    const first = browser.cookies.get("weir-session") ?? "";
    await browser.signIn();
    expect(browser.cookies.get("weir-session")).not.toBe(first);
    const { half = "" } = browser;
    const over = { cookie: `weir-session=${first}`, "x-weir-session": half };
    expect(await codeOf(browser.send("GET", "/system/info", undefined, over))).toEqual([401, "credentials_invalid"]);
  });

  test.each([
    ["a wrong password", { user: "admin", password: "wrong" }],
    ["a wrong user", { user: "root", password: "päss:word" }],
    ["a user that ends in the password", { user: "admin:päss", password: "word" }],
  ])("is refused for %s, without WWW-Authenticate, and observed", async (_, body) => {
    const reply = await browser.send("POST", "/auth/session", body);
    expect(reply.headers.has("www-authenticate")).toBe(false);
    expect(reply.headers.getSetCookie()).toEqual([]);
    expect(await codeOf(reply)).toEqual([401, "credentials_invalid"]);
    expect(refused).toMatchObject([{ action: "signIn", status: 401, address: "127.0.0.1" }]);
  });

  test("is not needed with basic_auth=false", async () => {
    const settings = { basic_auth: "false" };
    await using open = await openTestConsole({ settings, app: { auth: openToAll } });
    const page = new TestBrowser(open);
    const reply = await page.send("POST", "/auth/session", { user: "x", password: "y" });
    expect([reply.status, reply.headers.getSetCookie()]).toEqual([204, []]);
    const shown = await page.send("GET", "/auth/session");
    expect(JSON.parse(await shown.text())).toMatchObject({ user: "admin", via: "open" });
    expect(await codeOf(page.send("GET", "/system/info", undefined, { "sec-fetch-site": "cross-site" }))).toEqual([
      403,
      "cross_origin",
    ]);
  });
});

test("wrong passwords are throttled together with those of programs", async () => {
  await using other = await openTestConsole();
  const page = new TestBrowser(other);
  const wrong = { user: "admin", password: "wrong" };
  for (let count = 0; count < 20; count += 1)
    expect((await page.send("POST", "/auth/session", wrong)).status).toBe(401);
  expect(await codeOf(page.signIn())).toEqual([429, "too_many_logins"]);
  expect((await other.platform.call("GET", "/system/info")).status).toBe(429);
});

/** Where a response ends the session's cookie, without and with a partition. */
function endedBy(reply: Response): { readonly whole: readonly string[]; readonly parted: readonly string[] } {
  const ended = reply.headers.getSetCookie().flatMap((line) => {
    const path = /^weir-session=; Path=([^;]*); Max-Age=0; HttpOnly; SameSite=Strict(?:; Secure; Partitioned)?$/.exec(
      line,
    );
    return path?.[1] === undefined ? [] : [[path[1], line.endsWith("Partitioned")] as const];
  });
  const pathsOf = (isParted: boolean) => ended.flatMap(([path, parted]) => (parted === isParted ? [path] : []));
  return { whole: pathsOf(false), parted: pathsOf(true) };
}

describe("cookies that another page of this host could have set", () => {
  test.each([
    ["/system/info", ["/system/", "/system/info"]],
    ["/auth/session", ["/auth/", "/auth/session"]],
    ["/system/iam/whoami?x=/y/", ["/system/", "/system/iam", "/system/iam/", "/system/iam/whoami"]],
  ])("two of the name are 401 at %s, and the name is ended at all paths that it can be at", async (path, steps) => {
    await browser.signIn();
    const cookie = `weir-session=${browser.cookies.get("weir-session")}; weir-session=${"x".repeat(43)}`;
    const reply = await browser.send("GET", path, undefined, { cookie });
    const ended = endedBy(reply);
    expect(ended.whole.slice(0, 4)).toEqual(["/", "/system", "/auth", "/ui"]);
    expect(ended.whole).toEqual(expect.arrayContaining(steps));
    expect(ended.parted).toEqual(ended.whole);
    expect(new Set(ended.whole).size).toBe(reply.headers.getSetCookie().length / 2);
    expect(await codeOf(reply)).toEqual([401, "credentials_invalid"]);
  });

  test("a sign-in that sends several opens one session, and ends those of all", async () => {
    const [one, two] = [new TestBrowser(opened), new TestBrowser(opened)];
    await one.signIn();
    await two.signIn();
    const cookie = [one, two].map(({ cookies }) => `weir-session=${cookies.get("weir-session")}`).join("; ");
    const { user, password } = opened.platform;
    const reply = await browser.send("POST", "/auth/session", { user, password }, { cookie });
    expect(reply.status).toBe(204);
    for (const old of [one, two]) expect((await old.send("GET", "/system/info")).status).toBe(401);
    expect((await browser.send("GET", "/system/info")).status).toBe(200);
  });

  test("another's session is not that of a page that signed in to its own, nor of one that did not", async () => {
    const other = new TestBrowser(opened);
    await other.signIn();
    const cookie = `weir-session=${other.cookies.get("weir-session")}`;
    await browser.signIn();
    const { half: own = "" } = browser;
    for (const half of [{}, { "x-weir-session": own }]) {
      const stranger = new TestBrowser(opened);
      const over = { cookie, ...half };
      expect(await codeOf(stranger.send("GET", "/auth/session", undefined, over))).toEqual([
        401,
        "credentials_invalid",
      ]);
      const body = { service: "fixed", image: "acme/fixed:1" };
      expect((await stranger.send("PUT", "/system/functions", body, over)).status).toBe(401);
    }
    expect(opened.platform.functions.has("fixed.functions")).toBe(false);
  });

  test("very many are not looked up one by one: a sign-out ends the session, and a few others at most", async () => {
    const counted = new CountedSessions();
    await using other = await openTestConsole({ store: counted });
    const page = new TestBrowser(other);
    await page.signIn();
    const own = `weir-session=${page.cookies.get("weir-session")}`;
    const junk = Array.from({ length: 200 }, (_, index) => `weir-session=${String(index).padStart(43, "x")}`);
    const reply = await page.send("POST", "/auth/logout", undefined, { cookie: [...junk, own].join("; ") });
    expect(reply.status).toBe(204);
    expect(counted.asked).toBe(3);
    const again = page.send("GET", "/system/info", undefined, { cookie: own });
    expect(await codeOf(again)).toEqual([401, "credentials_invalid"]);
  });

  test("on http, a session counts only together with what its page knows", async () => {
    await browser.signIn();
    const { half } = browser;
    browser.half = undefined;
    expect(await codeOf(browser.send("GET", "/system/info"))).toEqual([401, "credentials_invalid"]);
    const other = new TestBrowser(opened);
    await other.signIn();
    browser.half = other.half;
    expect(await codeOf(browser.send("GET", "/system/info"))).toEqual([401, "credentials_invalid"]);
    browser.half = half;
    expect((await browser.send("GET", "/system/info")).status).toBe(200);
  });

  test.each(["", "x", "../../x", "x".repeat(43), "*", ">"])("%j is no session", async (value) => {
    const over = { cookie: `weir-session=${value}`, "x-weir-session": "x" };
    expect(await codeOf(browser.send("GET", "/system/info", undefined, over))).toEqual([401, "credentials_invalid"]);
  });
});

describe("hosts and origins", () => {
  test("another Host is 421, but for probes", async () => {
    for (const host of ["evil.example", `evil.example:${opened.port}`, "127.0.0.1", `127.0.0.2:${opened.port}`]) {
      for (const path of ["/system/info", "/auth/session", "/nope", "/openapi.json"]) {
        expect(await codeOf(opened.send("GET", path, { host }))).toEqual([421, "wrong_host"]);
      }
      expect((await opened.send("GET", "/healthz", { host })).status).toBe(200);
    }
    expect((await opened.send("GET", "/openapi.json", { host: `LOCALHOST:${opened.port}` })).status).toBe(200);
  });

  test.each([
    ["a page of another site", { "sec-fetch-site": "cross-site" }],
    ["a page of another port of this host", { "sec-fetch-site": "same-site" }],
    ["the address bar", { "sec-fetch-site": "none" }],
    ["a foreign origin", { origin: "https://evil.example" }],
    ["the origin of functions", { origin: "http://127.0.0.1:8080" }],
    ["a sandboxed page", { origin: "null" }],
  ])("%s is 403, whatever the credentials", async (_, over) => {
    await browser.signIn();
    const { authorization } = opened.platform;
    for (const headers of [over, { ...over, authorization }]) {
      const reply = browser.send("PUT", "/system/functions", { service: "a", image: "b" }, headers);
      expect(await codeOf(reply)).toEqual([403, "cross_origin"]);
    }
  });

  test("a change without Origin is 403, and so is the cookie without Sec-Fetch-Site", async () => {
    await browser.signIn();
    const cookie = `weir-session=${browser.cookies.get("weir-session")}`;
    const half = { "x-weir-session": browser.half ?? "" };
    const site = { "sec-fetch-site": "same-origin" };
    expect(await codeOf(opened.send("POST", "/auth/logout", { cookie, ...half, ...site }))).toEqual([
      403,
      "cross_origin",
    ]);
    expect(await codeOf(opened.send("GET", "/system/info", { cookie, ...half }))).toEqual([403, "cross_origin"]);
    expect((await opened.send("GET", "/system/info", { cookie, ...half, ...site })).status).toBe(200);
    const { user, password } = opened.platform;
    const old = opened.send("POST", "/auth/session", { origin: opened.origin }, { user, password });
    expect(await codeOf(old)).toEqual([403, "cross_origin"]);
  });

  test("programs send Basic and Bearer as at port; a 401 to them says how", async () => {
    const { authorization } = opened.platform;
    expect((await opened.send("GET", "/system/info", { authorization })).status).toBe(200);
    tokens.allow({ alice: [["System:Info"], ["*"]] });
    expect((await opened.send("GET", "/system/info", { authorization: tokens.give("alice") })).status).toBe(200);
    const reply = await opened.send("GET", "/system/info");
    expect([reply.status, reply.headers.get("www-authenticate")]).toEqual([401, expect.stringContaining("Basic")]);
    expect((await browser.send("GET", "/system/info")).headers.has("www-authenticate")).toBe(false);
  });

  test("with console_origins, only those count, the cookie is __Host-, and needs no header", async () => {
    const origin = "https://console.example";
    await using other = await openTestConsole({ settings: { console_origins: origin } });
    const page = new TestBrowser(other, origin);
    const reply = await page.signIn();
    expect(reply.headers.getSetCookie()).toEqual([
      expect.stringMatching(/^__Host-weir=; Path=\/; Max-Age=0; .*Partitioned$/),
      expect.stringMatching(/^__Host-weir=[\w-]{43}; Path=\/; Max-Age=28800; HttpOnly; Secure; SameSite=Strict$/),
    ]);
    page.half = undefined;
    expect((await page.send("GET", "/system/info")).status).toBe(200);
    page.half = "x";
    expect((await page.send("GET", "/system/info")).status).toBe(401);
    expect((await other.send("GET", "/openapi.json", { host: "console.example:443" })).status).toBe(200);
    expect((await other.send("GET", "/openapi.json", { host: `127.0.0.1:${other.port}` })).status).toBe(421);
  });
});

test("where there are no issuers, none is listed", async () => {
  await using other = await openTestConsole();
  const reply = await new TestBrowser(other).send("GET", "/auth/issuers");
  expect([reply.status, await reply.json()]).toEqual([200, []]);
});

test("there are no functions and no tokens, and every response has the headers of the console", async () => {
  const { authorization } = opened.platform;
  for (const path of ["/function/a", "/async-function/a", "/oauth/token", "/uix", "/auth/nope", "/auth/login"]) {
    const reply = await opened.send("GET", path, { authorization });
    expect(reply.status, path).toBe(404);
    expect(reply.headers.get("content-security-policy")).toContain("frame-ancestors 'none'");
  }
  expect((await opened.send("DELETE", "/auth/session", { authorization })).status).toBe(405);
  for (const path of ["/healthz", "/system/info", "/%2e"]) {
    const { headers } = await opened.send("GET", path, { authorization });
    expect(headers.get("cross-origin-opener-policy"), path).toBe("same-origin");
    expect(headers.get("cross-origin-resource-policy"), path).toBe("same-origin");
    expect(headers.get("referrer-policy"), path).toBe("no-referrer");
    expect(headers.get("permissions-policy"), path).toContain("clipboard-write=(self), ");
  }
});

test.each(["/", "/ui", "/?next=//evil.example"])("%s leads whoever types it to the console", async (path) => {
  const reply = await opened.send("GET", path, { "sec-fetch-site": "none", "sec-fetch-mode": "navigate" });
  expect([reply.status, reply.headers.get("location")]).toEqual([307, "/ui/"]);
  expect(reply.headers.get("content-security-policy")).toContain("frame-ancestors 'none'");
});

describe("when the store is away", () => {
  test("sessions go on for 5 minutes; nobody signs in or out meanwhile, and unknown ones are 503", async () => {
    await browser.signIn();
    store.away = 299_000;
    expect((await browser.send("GET", "/system/info")).status).toBe(200);
    expect(await codeOf(new TestBrowser(opened).signIn())).toEqual([503, "provider_unavailable"]);
    expect(await codeOf(browser.send("POST", "/auth/logout"))).toEqual([503, "provider_unavailable"]);
    const over = { cookie: `weir-session=${"y".repeat(43)}` };
    expect(await codeOf(browser.send("GET", "/system/info", undefined, over))).toEqual([503, "provider_unavailable"]);
    store.away = 0;
    const again = new TestBrowser(opened);
    await again.signIn();
    store.away = 300_001;
    expect(await codeOf(again.send("GET", "/system/info"))).toEqual([503, "provider_unavailable"]);
  });
});
