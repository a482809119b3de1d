import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Page } from "playwright-core";

import { chromiumProgram } from "../../support/headless-browser.ts";
import { openConsoleBrowser, type ConsoleBrowser, type ConsoleWindow } from "../../support/console/console-browser.ts";
import { openConsoleWeir, type ConsoleWeir } from "../../support/console/console-weir.ts";
import { evilProgram, type AttackOutcomes } from "../../support/console/evil-function.ts";
import { signIn } from "../../support/console/sign-in.ts";
import { say } from "../../support/say.ts";

/** A function's page in the browser of somebody who is signed in at the console; cookies: `separation-cookies.test.ts`. */
const program = chromiumProgram(say);

interface HeardRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

describe.skipIf(program === undefined)("a function's page", () => {
  let weir: ConsoleWeir;
  let browser: ConsoleBrowser;
  let window: ConsoleWindow;
  let own: Page;
  let evil: Page;
  let outcomes: AttackOutcomes;

  beforeAll(async () => {
    weir = await openConsoleWeir({ flags: ["--edition=pro"] });
    browser = await openConsoleBrowser(program ?? "");
    window = await browser.open({ origin: weir.origin, others: [weir.weir.url] });
    own = window.page;
    await weir.deploy({
      service: "evil",
      envProcess: "node -e 'eval(process.env.PROGRAM)'",
      envVars: { mode: "http", PROGRAM: evilProgram },
    });
    await signIn(own, weir.weir);
    evil = await window.context.newPage();
  });
  afterAll(async () => {
    await window?.[Symbol.asyncDispose]();
    await browser?.[Symbol.asyncDispose]();
    await weir?.[Symbol.asyncDispose]();
  });

  const evilUrl = (): string =>
    `${weir.weir.url}/function/evil/?${new URLSearchParams({ console: weir.origin }).toString()}`;
  const sessionCookies = async () =>
    (await window.context.cookies()).filter(({ name }) => name === "weir-session" || name === "__Host-weir");

  test("reads nothing of the console by any way that pages have", async () => {
    await evil.goto(evilUrl());
    outcomes = (await evil.evaluate("attacked")) as AttackOutcomes;
    const refused = ["failed: TypeError", "opaque", "refused", "closed", "failed: SecurityError"];
    const { worker, beacon, ...others } = outcomes;
    for (const [attack, outcome] of Object.entries(others)) {
      // Forms send into frames, whose content nobody reads; what they did is looked at below.
      if (attack.startsWith("form")) continue;
      expect(refused, `${attack}: ${outcome}`).toContain(outcome);
    }
    expect([worker, beacon]).toHaveLength(2);
  });

  test("changes nothing, and ends no session", async () => {
    const secrets = (await (await weir.api("GET", "/system/secrets")).json()) as readonly unknown[];
    expect(secrets).toEqual([]);
    const functions = (await (await weir.api("GET", "/system/functions")).json()) as readonly {
      readonly name: string;
    }[];
    expect(functions.map(({ name }) => name)).toEqual(["evil"]);
    await own.reload();
    await own.getByRole("heading", { level: 1, name: "Functions" }).waitFor();
  });

  test("sets no session: what the function says of our cookies is left out", async () => {
    const cookies = await sessionCookies();
    expect(cookies.map(({ name, value }) => [name, value === "evil"])).toEqual([["weir-session", false]]);
    expect((await window.context.cookies()).map(({ name }) => name)).toContain("own");
  });

  test("never sees a session: no request to the function had it", async () => {
    const [session] = await sessionCookies();
    const response = await fetch(`${weir.weir.url}/function/evil/heard`);
    const heard = (await response.json()) as readonly HeardRequest[];
    expect(heard.length).toBeGreaterThan(1);
    for (const { headers } of heard) {
      expect(JSON.stringify(headers)).not.toContain(session?.value);
      expect(headers["cookie"] ?? "").not.toMatch(/weir/);
    }
  });

  test("has no handle of a window of the console", async () => {
    const opened = window.context.waitForEvent("page");
    await evil.evaluate(`{ window.other = window.open(${JSON.stringify(`${weir.origin}/ui/`)}, "console") }`);
    const page = await opened;
    await page.getByRole("heading", { level: 1 }).waitFor();
    // To its opener it is closed, as both are apart from each other.
    await evil.waitForFunction("window.other.closed", undefined, { polling: 20 });
    expect(await evil.evaluate("[window.other.closed, window.other.length]")).toEqual([true, 0]);
    expect(await page.evaluate("window.opener")).toBeNull();
    await page.close();
  });

  test("its worker stands in front of its own origin only", async () => {
    await own.goto("/ui/queues");
    await own.getByRole("heading", { level: 1, name: "Queues" }).waitFor();
    expect(await own.evaluate("navigator.serviceWorker.controller")).toBeNull();
    expect(await own.evaluate("navigator.serviceWorker.getRegistrations().then((all) => all.length)")).toBe(0);
  });

  test("the console's own pages broke no rule", () => {
    expect(
      window.faults.violations.filter((text) => text.includes(weir.origin) && !text.startsWith("frame-ancestors")),
    ).toEqual([]);
    expect(browser.asked).toEqual([]);
  });
});
