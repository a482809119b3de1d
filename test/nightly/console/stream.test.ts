import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import type { Page } from "playwright-core";

import { chromiumProgram } from "../../support/headless-browser.ts";
import { openConsoleBrowser, type ConsoleBrowser, type ConsoleWindow } from "../../support/console/console-browser.ts";
import { openConsoleFront, type ConsoleFront, type FrontReply } from "../../support/console/console-front.ts";
import { openConsoleWeir, type ConsoleWeir } from "../../support/console/console-weir.ts";
import { expectNoFaults } from "../../support/console/page-faults.ts";
import { signIn } from "../../support/console/sign-in.ts";
import { freePort } from "../../support/free-port.ts";
import { say } from "../../support/say.ts";

const program = chromiumProgram(say);
const watch = /^GET \/system\/watch\?/;

type WatchedEvent = readonly [event: string, data: object];

const hello: WatchedEvent = ["hello", { release: "0.1.0", apiVersion: "1.0", time: new Date().toISOString() }];
const row = (name: string, ready: number) => [
  `${name}.functions`,
  1,
  ready,
  ready === 1 ? "ready" : "starting",
  0,
  0,
  0,
  1,
];
const functions = (begin: boolean, rows: readonly unknown[], removed: readonly string[] = []): WatchedEvent => [
  "functions",
  { on: "functions", begin, more: false, rows, removed },
];

/** What happened on the platform, in order. */
const story: readonly WatchedEvent[] = [
  hello,
  functions(true, [row("one", 0), row("two", 0)]),
  functions(false, [row("one", 1)]),
  functions(false, [row("three", 1)]),
  functions(false, [], ["two.functions"]),
];
/** The same as who comes at its end is told. */
const told: readonly WatchedEvent[] = [hello, functions(true, [row("one", 1), row("three", 1)])];

const written = ([event, data]: WatchedEvent): string => `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`;

describe.skipIf(program === undefined)("the stream of a page", () => {
  let weir: ConsoleWeir;
  let front: ConsoleFront;
  let browser: ConsoleBrowser;
  let window: ConsoleWindow;
  let page: Page;

  beforeAll(async () => {
    const port = await freePort();
    const origin = `http://127.0.0.1:${port}`;
    weir = await openConsoleWeir({ origins: [origin] });
    front = await openConsoleFront(port, weir.origin);
    browser = await openConsoleBrowser(program ?? "");
    window = await browser.open({ origin });
    page = window.page;
    await signIn(page, weir.weir);
  });
  afterAll(async () => {
    await window?.[Symbol.asyncDispose]();
    await browser?.[Symbol.asyncDispose]();
    await front?.[Symbol.asyncDispose]();
    await weir?.[Symbol.asyncDispose]();
  });
  afterEach(() => front.restore());

  /** Tells the story to the first stream, cut after some bytes; to those after it as it is at the end. */
  function cutAfter(bytes: number): FrontReply {
    let streams = 0;
    return (_request, response) => {
      streams += 1;
      response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-store" });
      if (streams > 1) return void response.write(told.map(written).join(""));
      return void response.write(story.map(written).join("").slice(0, bytes), () => response.destroy());
    };
  }

  const lengths = story.map(
    (_, index) =>
      story
        .slice(0, index + 1)
        .map(written)
        .join("").length,
  );
  const cuts = [...new Set([0, ...lengths, ...lengths.map((length) => length - 7)])].toSorted((a, b) => a - b);
  const table = () => page.getByRole("table", { name: "Functions" });

  test.each(cuts)("that is cut after %i bytes begins again, and the page is as the platform", async (bytes) => {
    front.replace(watch, cutAfter(bytes));
    await page.goto("/ui/");
    await expect
      .poll(() =>
        table()
          .locator(".row-link")
          .allTextContents()
          .then((all) => all.map((each) => each.split(" ")[0])),
      )
      .toEqual(["one", "three"]);
    await expect.poll(() => table().getByText("Ready", { exact: true }).count()).toBe(2);
    // The bar about the break is gone, too.
    await page.getByText(/Live changes stopped/).waitFor({ state: "detached" });
    await page.goto("about:blank");
  });

  test("that says goodbye is opened again without a word", async () => {
    let streams = 0;
    front.replace(watch, (_request, response) => {
      streams += 1;
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write(told.map(written).join(""));
      if (streams === 1) response.end(written(["bye", { reason: "draining" }]));
    });
    await page.goto("/ui/");
    await expect.poll(() => streams).toBeGreaterThan(1);
    expect(await page.getByText(/Live changes stopped|No connection/).count()).toBe(0);
    await page.goto("about:blank");
  });

  test("of another release offers to load the page anew", async () => {
    const updated: WatchedEvent = ["hello", { ...hello[1], release: "99.0.0" }];
    front.replace(watch, (_request, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write([updated, ...told.slice(1)].map(written).join(""));
    });
    await page.goto("/ui/");
    await page.getByText(/Weir was updated to 99\.0\.0/).waitFor();
    const loaded = page.waitForEvent("load");
    await page.getByRole("button", { name: "Reload" }).click();
    await loaded;
    await page.goto("about:blank");
  });

  test("is closed at once when nobody looks: ten tabs have one", async () => {
    const tabs: Page[] = [];
    const open = (): number => front.open.filter((asked) => watch.test(asked)).length;
    for (let tab = 0; tab < 10; tab += 1) {
      const last = tabs.at(-1);
      // Without windows all tabs are in sight: this one goes to the back.
      await last?.evaluate(`
        Object.defineProperty(document, "visibilityState", { value: "hidden", configurable: true });
        document.dispatchEvent(new Event("visibilitychange"));
      `);
      const next = await window.context.newPage();
      tabs.push(next);
      await signInWhereAsked(next);
      await expect.poll(open).toBe(1);
    }
    const first = tabs[0];
    await first?.evaluate(`
      Object.defineProperty(document, "visibilityState", { value: "visible", configurable: true });
      document.dispatchEvent(new Event("visibilitychange"));
    `);
    await expect.poll(open).toBe(2);
    for (const tab of tabs) await tab.close();
    await expect.poll(open).toBe(0);
  });

  async function signInWhereAsked(tab: Page): Promise<void> {
    await tab.goto("/ui/queues");
    const password = tab.getByLabel("Password");
    await password.or(tab.locator("#content h1")).first().waitFor();
    if (!(await password.isVisible())) return;
    await password.fill(weir.weir.password);
    await tab.getByRole("button", { name: "Sign in" }).click();
    await tab.locator("#content h1").waitFor();
  }

  test("broke no rule", () => {
    expectNoFaults(window.faults);
    expect(browser.asked).toEqual([]);
  });
});
