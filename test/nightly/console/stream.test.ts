import { beforeAll, expect, test } from "vitest";
import type { Page } from "playwright-core";

import { writtenEvent, type ConsoleFront, type FrontReply } from "../../support/console/console-front.ts";
import { describeFrontedConsole, type FrontedConsole } from "../../support/console/opened-console.ts";
import { waitForWords, waitUntilUnsaid } from "../../support/console/page-words.ts";

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

describeFrontedConsole("the stream of a page", {}, (opened) => {
  let weir: FrontedConsole["weir"];
  let front: ConsoleFront;
  let page: Page;
  beforeAll(() => {
    ({ weir, front, page } = opened());
  });

  /** Tells the story to the first stream, cut after some bytes; to those after it as it is at the end. */
  function cutAfter(bytes: number): FrontReply {
    let streams = 0;
    return (_request, response) => {
      streams += 1;
      response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-store" });
      if (streams > 1) return void response.write(told.map(writtenEvent).join(""));
      return void response.write(story.map(writtenEvent).join("").slice(0, bytes), () => response.destroy());
    };
  }

  const lengths = story.map(
    (_, index) =>
      story
        .slice(0, index + 1)
        .map(writtenEvent)
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
      response.write(told.map(writtenEvent).join(""));
      if (streams === 1) response.end(writtenEvent(["bye", { reason: "draining" }]));
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
      response.write([updated, ...told.slice(1)].map(writtenEvent).join(""));
    });
    await page.goto("/ui/");
    await page.getByText(/Weir was updated to 99\.0\.0/).waitFor();
    const loaded = page.waitForEvent("load");
    await page.getByRole("button", { name: "Reload" }).click();
    await loaded;
    await page.goto("about:blank");
  });

  test("that leaves calls out says so, and the list is read again", async () => {
    const calls = /^GET \/system\/calls\?/;
    let send: (event: WatchedEvent) => void = () => {};
    front.replace(watch, (_request, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write(writtenEvent(hello));
      send = (event) => void response.write(writtenEvent(event));
    });
    const before = front.seen.length;
    await page.goto("/ui/calls");
    await waitForWords(page, /weir invoke/);
    send(["calls", { on: "calls", begin: false, calls: [], removed: [], skipped: 7 }]);
    await waitForWords(page, "Calls change faster than they can be shown; the list is read again every 10 s");
    await waitUntilUnsaid(page, /Calls change faster/);
    expect(front.seen.slice(before).filter((asked) => calls.test(asked)).length).toBeGreaterThan(1);
    await page.goto("about:blank");
  });

  test("that leaves lines of a log out says how many", async () => {
    await weir.deploy({ service: "hello", envProcess: "cat" });
    front.replace(watch, (_request, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      const lines = (skipped: number) => ({ on: "log:functions:hello", begin: false, records: [], skipped });
      response.write([hello, ["log", lines(12)] as const, ["log", lines(30)] as const].map(writtenEvent).join(""));
    });
    await page.goto("/ui/f/functions/hello/logs");
    await waitForWords(page, "42 lines came too fast to be shown; a download by command has them");
    await page.goto("about:blank");
  });

  test("is closed at once when nobody looks: ten tabs have one", async () => {
    const open = (): number => front.open.filter((asked) => watch.test(asked)).length;
    // Without windows all tabs are in sight: this one goes to the back, or comes to the front.
    const look = (tab: Page, state: "visible" | "hidden"): Promise<unknown> =>
      tab.evaluate(`
        Object.defineProperty(document, "visibilityState", { value: "${state}", configurable: true });
        document.dispatchEvent(new Event("visibilitychange"));
      `);
    await page.goto("/ui/queues");
    await expect.poll(open).toBe(1);
    const tabs = [page];
    for (let last = page; tabs.length < 10; last = tabs.at(-1) ?? page) {
      await look(last, "hidden");
      const opening = opened().window.context.waitForEvent("page");
      // Opened by its page, a tab shares its session; a sign-in of its own would end the other one.
      await last.evaluate(`void window.open("/ui/queues")`);
      tabs.push(await opening);
      await tabs.at(-1)?.locator("#content h1").waitFor();
      await expect.poll(open).toBe(1);
    }
    await look(page, "visible");
    await expect.poll(open).toBe(2);
    for (const tab of tabs.slice(1)) await tab.close();
    await page.goto("about:blank");
    await expect.poll(open).toBe(0);
  });
});
