import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { Page } from "playwright-core";

import { chromiumProgram } from "../../support/headless-browser.ts";
import { axeFindings } from "../../support/console/axe-findings.ts";
import { openConsoleBrowser, type ConsoleBrowser, type ConsoleWindow } from "../../support/console/console-browser.ts";
import { openConsoleWeir, type ConsoleWeir } from "../../support/console/console-weir.ts";
import { expectNoFaults } from "../../support/console/page-faults.ts";
import { keepShot } from "../../support/console/page-shots.ts";
import { seedWeir } from "../../support/console/seed-weir.ts";
import { signIn } from "../../support/console/sign-in.ts";
import { eventually } from "../../support/eventually.ts";
import type { KnownProcess } from "../../support/process-tree.ts";
import { say } from "../../support/say.ts";

/** What goes wrong with the real thing, and what the open page makes of it. */
const program = chromiumProgram(say);

describe.skipIf(program === undefined)("an open page", () => {
  let weir: ConsoleWeir;
  let browser: ConsoleBrowser;
  let window: ConsoleWindow;
  let page: Page;

  beforeAll(async () => {
    weir = await openConsoleWeir({ flags: ["--edition=pro"] });
    browser = await openConsoleBrowser(program ?? "");
    await seedWeir(weir);
    window = await browser.open({ origin: weir.origin });
    page = window.page;
    await signIn(page, weir.weir);
  }, 120_000);
  afterAll(async () => {
    await window?.[Symbol.asyncDispose]();
    await browser?.[Symbol.asyncDispose]();
    await weir?.[Symbol.asyncDispose]();
  });
  beforeEach(({ onTestFailed, task }) => {
    onTestFailed(() => keepShot(page, `bad-${task.name.replaceAll(/[^a-z]+/gi, "-")}`));
  });

  const shows = (text: string | RegExp) => page.getByText(text).filter({ visible: true }).first().waitFor();
  const isGone = (text: string | RegExp) => page.getByText(text).first().waitFor({ state: "detached" });

  /** A process of this Weir, once it runs. */
  const part = (command: string): Promise<KnownProcess> =>
    eventually(() => weir.weir.below().find((each) => each.command.includes(command)), { what: command });

  test("whose function is deleted says so, and leads to its past calls", async () => {
    await weir.deploy({ service: "gone", envProcess: "cat" });
    await page.goto("/ui/f/functions/gone");
    await shows("Replicas");
    const response = await weir.api("DELETE", "/system/functions", { functionName: "gone" });
    expect(response.status).toBe(202);
    await shows('There is no function "gone" in "functions" (any more)');
    await page.getByRole("link", { name: "Its past calls" }).click();
    await page.getByRole("heading", { level: 1, name: "Calls" }).waitFor();
  });

  test("shows a new call and what becomes of it, without a reload", async () => {
    await page.goto("/ui/calls?state=failed");
    await shows("1 call");
    const id = await weir.calls.accepted("hello", { tail: "/fail" });
    await weir.calls.ended(id);
    await page.getByText(id.slice(0, 8)).first().waitFor();
  });

  test("whose session ends keeps what was typed, and goes on after a new sign-in", async () => {
    await page.goto("/ui/secrets");
    await page.getByRole("button", { name: "New secret" }).click();
    const name = page.getByRole("dialog").getByRole("textbox", { name: "Name" });
    await name.fill("typed-before");
    const other = await window.context.newPage();
    await signInHere(other);
    await other.getByRole("button", { name: "Sign out" }).click();
    await other.getByLabel("Password").waitFor();
    await other.close();
    await page.getByLabel("Value", { exact: true }).fill("v");
    await page.getByRole("button", { name: "Store secret" }).click();
    const again = page.getByRole("dialog", { name: "Your session is over" });
    await again.waitFor();
    expect(await axeFindings(page)).toEqual([]);
    await again.getByLabel("Password").fill(weir.weir.password);
    await again.getByRole("button", { name: "Sign in" }).click();
    await again.waitFor({ state: "detached" });
    // What was sent goes on by itself.
    await shows("Sent: Store secret typed-before");
    await page.getByRole("table", { name: "Secrets" }).getByText("typed-before").waitFor();
  });

  /** The half of the session is the tab's own, so another tab signs in anew. */
  async function signInHere(other: Page): Promise<void> {
    await other.goto("/ui/");
    const password = other.getByLabel("Password");
    await password.or(other.locator("#content h1")).first().waitFor();
    if (!(await password.isVisible())) return;
    await password.fill(weir.weir.password);
    await other.getByRole("button", { name: "Sign in" }).click();
    await other.locator("#content h1").waitFor();
  }

  test("says that the history does not answer, and comes back by itself", async () => {
    await page.goto("/ui/calls");
    await shows(/\d calls/);
    const history = await part("history/main.ts");
    process.kill(history.pid, "SIGSTOP");
    try {
      await page.getByRole("button", { name: "Read again" }).click();
      await shows(/Cannot read the history of calls/);
      await page.goto("/ui/queues");
      await shows("default");
      await page.goto("/ui/calls");
      await shows(/Cannot read the history of calls/);
    } finally {
      process.kill(history.pid, "SIGCONT");
    }
    await isGone(/Cannot read the history of calls/);
    await shows(/\d calls/);
  });

  test("says that the broker is away, and what that means", async () => {
    await page.goto("/ui/queues");
    await shows("default");
    const broker = await part("nats-server");
    process.kill(broker.pid, "SIGSTOP");
    try {
      await page
        .locator(".notices")
        .getByText(/broker/)
        .first()
        .waitFor({ timeout: 90_000 });
    } finally {
      process.kill(broker.pid, "SIGCONT");
    }
    await page
      .locator(".notices")
      .getByText(/broker/)
      .first()
      .waitFor({ state: "detached", timeout: 90_000 });
  }, 200_000);

  test("waits for a slow gateway: an outline first, then for what", async () => {
    const { pid } = weir.weir;
    await page.goto("/ui/queues");
    await shows("default");
    process.kill(pid, "SIGSTOP");
    try {
      await page.getByRole("link", { name: "Calls", exact: true }).click();
      await page.locator(".outline").first().waitFor();
      await shows(/^Waiting for /);
    } finally {
      process.kill(pid, "SIGCONT");
    }
    await shows(/\d calls/);
  });

  test("says since when the gateway is away, sends nothing, and is back without a reload", async () => {
    await page.goto("/ui/secrets");
    await shows("api-key");
    await page.evaluate("window.sameDocument = true");
    await weir.kill();
    await shows(/No connection to the gateway since \d\d:\d\d:\d\d; trying again/);
    const button = page.getByRole("button", { name: "New secret" });
    expect(await button.getAttribute("aria-disabled")).toBe("true");
    expect(await page.locator("main").getAttribute("class")).toContain("stale");
    await shows("api-key");
    await weir.again();
    await isGone(/No connection to the gateway/);
    await expect.poll(() => button.getAttribute("aria-disabled")).toBe("false");
    expect(await page.evaluate("window.sameDocument")).toBe(true);
    await weir.api("POST", "/system/secrets", { name: "while-it-was-back", value: "v" });
    await page.getByRole("link", { name: "Calls", exact: true }).click();
    await page.getByRole("link", { name: "Secrets", exact: true }).click();
    await shows("while-it-was-back");
  }, 200_000);

  test("that breaks says so in its panel, and the rest works", async () => {
    await page.route("**/system/queues", (route) => route.fulfill({ json: [null] }));
    await page.goto("/ui/queues");
    await shows("This is a defect of the console");
    expect(await page.getByLabel("What broke").textContent()).toMatch(/TypeError/);
    await page.unroute("**/system/queues");
    await page.getByRole("link", { name: "Secrets", exact: true }).click();
    await shows("api-key");
  });

  test("broke no rule meanwhile", () => {
    expectNoFaults(window.faults);
    expect(browser.asked).toEqual([]);
  });

  test("of the sign-in says when it is asked too often", async () => {
    await using stranger = await browser.open({ origin: weir.origin });
    const { page: other } = stranger;
    await other.goto("/ui/");
    for (let tries = 0; tries < 25; tries += 1) {
      await other.getByLabel("Password").fill(`wrong ${tries}`);
      await other.getByRole("button", { name: "Sign in" }).click();
      await other.getByRole("alert").waitFor();
      if (((await other.getByRole("alert").textContent()) ?? "").includes("too many")) break;
      await expect.poll(() => other.getByRole("button", { name: "Sign in" }).getAttribute("aria-busy")).toBe("false");
    }
    expect(await other.getByRole("alert").textContent()).toMatch(/too many|wait|again in/i);
  });
});
