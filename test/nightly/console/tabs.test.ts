import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Locator, Page, Request } from "playwright-core";

import { chromiumProgram } from "../../support/headless-browser.ts";
import { openConsoleBrowser, type ConsoleBrowser, type ConsoleWindow } from "../../support/console/console-browser.ts";
import { openConsoleWeir, type ConsoleWeir } from "../../support/console/console-weir.ts";
import { expectNoFaults } from "../../support/console/page-faults.ts";
import { signIn } from "../../support/console/sign-in.ts";
import { say } from "../../support/say.ts";

/**
 * Many tabs of one browser with a session that they share. Over HTTP/1.1 a browser keeps six connections to a host: were
 * the streams of tabs in the back open, the seventh tab would load nothing.
 */
const program = chromiumProgram(say);
const count = 10;

describe.skipIf(program === undefined)("tabs of one browser", () => {
  let weir: ConsoleWeir;
  let browser: ConsoleBrowser;
  let window: ConsoleWindow;
  const tabs: Page[] = [];
  /** Streams that tabs read, each with its tab. */
  const streams = new Map<Request, Page>();

  beforeAll(async () => {
    weir = await openConsoleWeir();
    browser = await openConsoleBrowser(program ?? "");
    window = await browser.open({ origin: weir.origin });
    window.context.on("request", (request) => {
      if (new URL(request.url()).pathname === "/system/watch") streams.set(request, request.frame().page());
    });
    window.context.on("requestfinished", (request) => void streams.delete(request));
    window.context.on("requestfailed", (request) => void streams.delete(request));
    await weir.deploy({ service: "first", envProcess: "cat" });
    await signIn(window.page, weir.weir);
    tabs.push(window.page);
  });
  afterAll(async () => {
    await window?.[Symbol.asyncDispose]();
    await browser?.[Symbol.asyncDispose]();
    await weir?.[Symbol.asyncDispose]();
  });

  /** Without windows all tabs are in sight: this one comes to the front, or goes to the back. */
  const look = (tab: Page, state: "visible" | "hidden"): Promise<unknown> =>
    tab.evaluate(`
      Object.defineProperty(document, "visibilityState", { value: "${state}", configurable: true });
      document.dispatchEvent(new Event("visibilitychange"));
    `);
  const rowOf = (tab: Page, name: string): Locator => tab.getByRole("table", { name: "Functions" }).getByText(name);
  const readers = (): readonly number[] => [...streams.values()].map((tab) => tabs.indexOf(tab));

  test("load one after the other, and only the one in front has a stream", async () => {
    await rowOf(window.page, "first").waitFor();
    await expect.poll(readers).toEqual([0]);
    while (tabs.length < count) {
      const last = tabs.at(-1) ?? window.page;
      await look(last, "hidden");
      await expect.poll(readers).toEqual([]);
      const opening = window.context.waitForEvent("page");
      // Opened by its page, a tab begins with what that knows of the session.
      await last.evaluate(`void window.open("/ui/")`);
      const next = await opening;
      tabs.push(next);
      await rowOf(next, "first").waitFor();
      await expect.poll(readers).toEqual([tabs.length - 1]);
    }
  });

  test("show what changed meanwhile as soon as somebody looks, and each goes on alone", async () => {
    await look(tabs.at(-1) ?? window.page, "hidden");
    await expect.poll(readers).toEqual([]);
    await weir.deploy({ service: "later", envProcess: "cat" });
    for (const [index, tab] of tabs.entries()) {
      expect(await rowOf(tab, "later").count()).toBe(0);
      await look(tab, "visible");
      await rowOf(tab, "later").waitFor();
      expect(readers()).toEqual([index]);
      await look(tab, "hidden");
      await expect.poll(readers).toEqual([]);
    }
  });

  test("can be in sight together as long as there are connections", async () => {
    const some = tabs.slice(0, 4);
    for (const tab of some) await look(tab, "visible");
    await expect.poll(() => readers().toSorted((a, b) => a - b)).toEqual([0, 1, 2, 3]);
    await weir.deploy({ service: "together", envProcess: "cat" });
    for (const tab of some) await rowOf(tab, "together").waitFor();
    for (const tab of some) await look(tab, "hidden");
    await expect.poll(readers).toEqual([]);
  });

  test("are all asked to sign in again once one of them signed out", async () => {
    const [first = window.page, ...others] = tabs;
    expect(await first.evaluate(signOutScript)).toBe(204);
    for (const tab of others) {
      await look(tab, "visible");
      await tab.getByLabel("Password").waitFor();
      await look(tab, "hidden");
    }
    await expect.poll(readers).toEqual([]);
  });

  test("broke no rule", () => {
    expectNoFaults(window.faults);
    expect(browser.asked).toEqual([]);
  });
});

/** As the page does when its user signs out, but without a change of this page. */
const signOutScript = `fetch("/auth/logout", {
  method: "POST",
  headers: { "X-Weir-Session": sessionStorage.getItem("weir-session") },
}).then(({ status }) => status)`;
