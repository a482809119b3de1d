import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { Locator, Page } from "playwright-core";

import { chromiumProgram } from "../../support/headless-browser.ts";
import { openConsoleBrowser, type ConsoleBrowser, type ConsoleWindow } from "../../support/console/console-browser.ts";
import { openConsoleWeir, type ConsoleWeir } from "../../support/console/console-weir.ts";
import { evilProgram } from "../../support/console/evil-function.ts";
import { signIn } from "../../support/console/sign-in.ts";
import { say } from "../../support/say.ts";

/**
 * Cookies that a function's page sets for the console of the same host, and what it has the browser clear. It may sign
 * people out; nobody becomes somebody else, and who signs in again goes on.
 */
const program = chromiumProgram(say);

describe.skipIf(program === undefined)("a function's page", () => {
  let weir: ConsoleWeir;
  let browser: ConsoleBrowser;

  beforeAll(async () => {
    weir = await openConsoleWeir({ flags: ["--edition=pro"] });
    browser = await openConsoleBrowser(program ?? "");
    await weir.deploy({
      service: "evil",
      envProcess: "node -e 'eval(process.env.PROGRAM)'",
      envVars: { mode: "http", PROGRAM: evilProgram },
    });
  });
  afterAll(async () => {
    await browser?.[Symbol.asyncDispose]();
    await weir?.[Symbol.asyncDispose]();
  });

  const openWindow = (): Promise<ConsoleWindow> => browser.open({ origin: weir.origin, others: [weir.weir.url] });
  const visit = (page: Page, path: string): Promise<unknown> => page.goto(`${weir.weir.url}/function/evil/${path}`);
  const passwordOf = (page: Page): Locator => page.getByLabel("Password");

  /** Sets cookies as the scripts of a function's page do. */
  async function setCookies({ context }: ConsoleWindow, ...lines: readonly string[]): Promise<void> {
    const page = await context.newPage();
    await visit(page, "quiet");
    for (const line of lines) await page.evaluate(`document.cookie = ${JSON.stringify(line)}`);
    await page.close();
  }

  async function signInHere(page: Page): Promise<void> {
    await passwordOf(page).fill(weir.weir.password);
    const known = page.waitForResponse(
      (reply) => reply.url().endsWith("/auth/session") && reply.request().method() === "GET",
    );
    const button = page.getByRole("button", { name: "Sign in", exact: true });
    await button.click();
    await known;
    // From here on the form is gone, or asks again.
    await button.and(page.locator("[aria-busy=true]")).waitFor({ state: "detached" });
  }

  /** Waits for `shown`; whoever is asked to signs in before. Returns how often that was. */
  async function reach(page: Page, shown: Locator): Promise<number> {
    for (let asked = 0; ; asked += 1) {
      await shown.or(passwordOf(page)).first().waitFor();
      if (!(await passwordOf(page).isVisible())) return asked;
      expect(asked, "sign-ins that led nowhere").toBeLessThan(2);
      await signInHere(page);
    }
  }

  /** Uses the stream, then calls the function; returns how often one had to sign in. */
  async function useConsole(page: Page): Promise<number> {
    await page.goto("/ui/");
    const overview = await reach(page, page.getByRole("table", { name: "Functions" }).getByText("evil"));
    await page.goto("/ui/f/functions/evil/try");
    const call = page.getByRole("button", { name: "Call", exact: true });
    const form = await reach(page, call);
    await call.click();
    return overview + form + (await reach(page, page.getByText("200", { exact: true })));
  }

  const paths = [
    "/",
    "/system",
    "/system/",
    "/system/functions",
    "/system/watch",
    "/auth",
    "/auth/session",
    "/ui",
    "/ui/f",
    "/ui/try",
    "/ui/try/evil.functions",
  ];
  const kinds = [
    ["", (path: string) => `weir-session=evil; path=${path}`],
    [" that lasts", (path: string) => `weir-session=evil; path=${path}; max-age=31536000`],
    [" that is secure", (path: string) => `weir-session=evil; path=${path}; secure`],
    [" in a partition", (path: string) => `weir-session=evil; path=${path}; secure; partitioned`],
    [" of the host", (path: string) => `weir-session=evil; path=${path}; domain=127.0.0.1`],
    [" without a name", (path: string) => `=weir-session=evil; path=${path}`],
  ] as const;

  test.each(paths)("sets the cookie at %s: whoever signs in again goes on", async (path) => {
    await using window = await openWindow();
    const { page } = window;
    await signIn(page, weir.weir);
    await setCookies(window, ...kinds.slice(0, 4).map(([, line]) => line(path)));
    await useConsole(page);
    // From then on nobody is asked any more.
    expect(await useConsole(page)).toBe(0);
  });

  test.each(kinds)("sets a cookie%s at paths of all depths, before anybody signs in", async (_, line) => {
    await using window = await openWindow();
    const { page } = window;
    await setCookies(window, ...paths.map((path) => line(path)));
    await page.goto("/ui/");
    await reach(page, page.locator("#content h1"));
    await useConsole(page);
    expect(await useConsole(page)).toBe(0);
  });

  describe("that has a session of its own", () => {
    let foreign: { readonly secret: string; readonly half: string };
    beforeEach(async () => {
      const { user, password } = weir.weir;
      const reply = await fetch(`${weir.origin}/auth/session`, {
        method: "POST",
        headers: { origin: weir.origin, "sec-fetch-site": "same-origin" },
        body: JSON.stringify({ user, password }),
      });
      expect(reply.status).toBe(204);
      const [, secret = ""] = /^weir-session=([^;]+)/.exec(reply.headers.getSetCookie().at(-1) ?? "") ?? [];
      foreign = { secret, half: reply.headers.get("x-weir-session") ?? "" };
      expect([secret.length, foreign.half.length]).toEqual([43, 43]);
    });
    const theirs = (path: string): string => `weir-session=${foreign.secret}; path=${path}`;
    const statusOf = (page: Page): Promise<number> =>
      page.evaluate(`fetch("/auth/session").then(({ status }) => status)`) as Promise<number>;

    test.each(["/", "/system", "/auth", "/ui", "/auth/session"])(
      "gives it to nobody by a cookie at %s",
      async (path) => {
        await using window = await openWindow();
        const { page } = window;
        await setCookies(window, theirs(path));
        await page.goto("/ui/");
        await passwordOf(page).waitFor();
        expect(await statusOf(page)).toBe(401);
        await reach(page, page.locator("#content h1"));
        const own = (await window.context.cookies()).filter(
          ({ name, path: at }) => name === "weir-session" && at === "/",
        );
        expect(own.map(({ value }) => value === foreign.secret)).toEqual([false]);
      },
    );

    test("gives it to nobody who is signed in already", async () => {
      await using window = await openWindow();
      const { page } = window;
      await signIn(page, weir.weir);
      // As many as make the browser forget the older ones of this host.
      const crowd = Array.from({ length: 400 }, (_, index) => `crowd${index}=x; path=/`);
      await setCookies(window, ...crowd, theirs("/"));
      await page.reload();
      await reach(page, page.locator("#content h1"));
      const sent = page.waitForRequest((request) => request.url().endsWith("/auth/session"));
      await page.reload();
      const cookie = (await (await sent).allHeaders())["cookie"] ?? "";
      expect(cookie).toContain("weir-session=");
      expect(cookie).not.toContain(foreign.secret);
    });

    test("gives it to nobody by a link, either", async () => {
      await using window = await openWindow();
      const { page } = window;
      await setCookies(window, theirs("/"));
      await page.goto(`/ui/#session=${foreign.half}`);
      await passwordOf(page).or(page.locator("#content h1")).first().waitFor();
      expect(await passwordOf(page).isVisible()).toBe(true);
    });
  });

  test.each([
    ["cookies", 0],
    ["*", 0],
    ["storage", 1],
    ["cache", 1],
  ])(
    "has the browser clear %s: %i sessions of this browser are left, and all is well after a sign-in",
    async (what, left) => {
      await using window = await openWindow();
      const { page, context } = window;
      await signIn(page, weir.weir);
      const valuesOf = async () =>
        (await context.cookies()).flatMap(({ name, value }) => (name === "weir-session" ? [value] : []));
      const before = await valuesOf();
      const other = await context.newPage();
      await visit(other, `clear?${encodeURIComponent(what)}`);
      expect(await valuesOf()).toEqual(before.slice(0, left));
      expect(await useConsole(page)).toBe(1 - left);
      expect(await useConsole(page)).toBe(0);
      const functions = (await (await weir.api("GET", "/system/functions")).json()) as readonly {
        readonly name: string;
      }[];
      expect(functions.map(({ name }) => name)).toEqual(["evil"]);
    },
  );
});
