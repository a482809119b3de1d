import { beforeAll, expect, test } from "vitest";
import type { Page } from "playwright-core";

import type { CallPageView } from "../../../runtime/api/schemas/history/call-page.ts";
import { axeFindings } from "../../support/console/axe-findings.ts";
import type { ConsoleWeir } from "../../support/console/console-weir.ts";
import { describeConsole } from "../../support/console/opened-console.ts";
import { waitForWords, waitUntilUnsaid } from "../../support/console/page-words.ts";
import { seedWeir } from "../../support/console/seed-weir.ts";
import { eventually } from "../../support/eventually.ts";
import type { KnownProcess } from "../../support/process-tree.ts";

/** What goes wrong with the real thing, and what the open page makes of it. */
describeConsole("an open page", { flags: ["--edition=pro"], prepare: seedWeir }, (opened) => {
  let weir: ConsoleWeir;
  let page: Page;
  beforeAll(() => {
    ({ weir, page } = opened());
  });

  const shows = (text: string | RegExp) => waitForWords(page, text);
  const isGone = (text: string | RegExp) => waitUntilUnsaid(page, text);
  const link = (name: string) => page.getByRole("link", { name, exact: true });

  /** A process of this Weir, once it runs. */
  const part = (command: string): Promise<KnownProcess> =>
    eventually(() => weir.weir.below().find((each) => each.command.includes(command)), { what: command });

  test("shows a new call and what becomes of it, without a reload", async () => {
    await page.goto("/ui/calls?state=failed");
    await shows("1 call");
    const id = await weir.calls.accepted("hello", { tail: "/fail" });
    await weir.calls.ended(id);
    await page.getByText(id.slice(0, 8)).first().waitFor();
  });

  test("says that the history does not answer, and comes back by itself", async () => {
    await page.goto("/ui/calls");
    await shows(/\d calls/);
    const history = await part("history/main.ts");
    process.kill(history.pid, "SIGSTOP");
    try {
      await page.getByRole("button", { name: "Read again" }).click();
      await shows(/Cannot read the history of calls/);
      // Functions and queues go on, and no list is empty that is not known to be.
      await page.goto("/ui/queues");
      await shows("default");
      await page.goto("/ui/");
      await shows("hello");
      await page.goto("/ui/calls");
      await shows(/Cannot read the history of calls/);
      expect(await page.getByText(/No call|weir invoke/).count()).toBe(0);
    } finally {
      process.kill(history.pid, "SIGCONT");
    }
    await isGone(/Cannot read the history of calls/);
    await shows(/\d calls/);
  });

  test("says how far the history is behind, and where it has a gap", async () => {
    const list = (await (await weir.api("GET", "/system/calls")).json()) as CallPageView;
    const gap = { from: new Date(0).toISOString(), to: list.items[0]?.acceptedAt };
    const history = { lagSeconds: 42, complete: false, gaps: [gap] };
    await page.route(/\/system\/calls\?/, (route) => route.fulfill({ json: { ...list, history } }));
    await page.goto("/ui/calls");
    await shows("History is 42 s behind: newer calls are not listed yet");
    await shows(/Calls may be missing here: the history has a gap from 1970-01-01/);
    await page.unroute(/\/system\/calls\?/);
  });

  test("says that the broker is away, what that means, and shows what still works", async () => {
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
      await page.locator(".notices").getByRole("link", { name: "What to do" }).first().waitFor();
      await link("Functions").click();
      await shows("hello");
      await link("Secrets").click();
      await shows("api-key");
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
      await link("Calls").click();
      await page.locator(".outline").first().waitFor();
      await shows(/^Waiting for /);
    } finally {
      process.kill(pid, "SIGCONT");
    }
    await shows(/\d calls/);
  });

  test("whose filter is typed on gives up what nobody waits for", async () => {
    const { pid } = weir.weir;
    await page.goto("/ui/calls");
    await shows(/\d calls/);
    const [sent, givenUp]: [string[], string[]] = [[], []];
    const functionOf = (url: string): string => new URL(url).searchParams.get("function") ?? "";
    const isList = (url: string): boolean => new URL(url).pathname === "/system/calls";
    page.on("request", (request) => void (isList(request.url()) && sent.push(functionOf(request.url()))));
    page.on("requestfailed", (request) => void (isList(request.url()) && givenUp.push(functionOf(request.url()))));
    process.kill(pid, "SIGSTOP");
    try {
      const field = page.getByLabel("Function", { exact: true });
      await field.fill("hel");
      await expect.poll(() => sent).toEqual(["hel"]);
      await field.fill("hello");
      await expect.poll(() => sent).toEqual(["hel", "hello"]);
      await expect.poll(() => givenUp).toEqual(["hel"]);
    } finally {
      process.kill(pid, "SIGCONT");
    }
    await shows(/\d calls/);
    expect(givenUp).toEqual(["hel"]);
    page.removeAllListeners("request");
    page.removeAllListeners("requestfailed");
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
    expect(await axeFindings(page)).toEqual([]);
    await shows("api-key");
    await weir.again();
    await isGone(/No connection to the gateway/);
    await expect.poll(() => button.getAttribute("aria-disabled")).toBe("false");
    expect(await page.evaluate("window.sameDocument")).toBe(true);
    await weir.api("POST", "/system/secrets", { name: "while-it-was-back", value: "v" });
    await link("Calls").click();
    await link("Secrets").click();
    await shows("while-it-was-back");
  }, 200_000);

  test("that breaks says so in its panel, in words to be copied that are sent nowhere, and the rest works", async () => {
    const sent: string[] = [];
    page.on("request", (request) => void (request.method() !== "GET" && sent.push(request.url())));
    await page.route("**/system/queues", (route) => route.fulfill({ json: [null] }));
    await page.goto("/ui/queues");
    await shows("This is a defect of the console");
    expect(await page.getByLabel("What broke").textContent()).toMatch(/TypeError/);
    await page.getByRole("alert").getByRole("button", { name: "Copy" }).click();
    await shows("Copied");
    await page.unroute("**/system/queues");
    await link("Secrets").click();
    await shows("api-key");
    expect(sent).toEqual([]);
    page.removeAllListeners("request");
  });
});
