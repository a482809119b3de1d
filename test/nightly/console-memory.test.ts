import { expect, test } from "vitest";

import { writtenEvent } from "../support/console/console-front.ts";
import type { ConsoleWeir } from "../support/console/console-weir.ts";
import { manyCalls, manyFunctions } from "../support/console/many-rows.ts";
import { heldBytes } from "../support/console/held-bytes.ts";
import { describeFrontedConsole } from "../support/console/opened-console.ts";
import { say } from "../support/say.ts";

const watch = /^GET \/system\/watch\?/;
/** Before these the page is not warm yet. */
const warmEvents = 2_000;
const events = 10_000;
/** Between two looks at the memory: the page of a log keeps 18 000 lines up to 20 000, of which a look may find any number. */
const betweenLooks = 25;
const looks = 5;

type Made = readonly [event: string, data: object];

const hello: Made = ["hello", { release: "0.1.0", apiVersion: "1.0", time: new Date().toISOString() }];

interface WatchedPage {
  readonly path: string;
  readonly begin: Made;
  readonly change: (index: number) => Made;
  /** A text of a change, for a page that shows a little of what came per frame. */
  readonly last?: (index: number) => string;
  /** How many of them come in a frame. */
  readonly perFrame: number;
  /** A button that shows the page in another way: what it had then must not stay. */
  readonly button?: string;
}

/** What each page is told: the whole, and then changes. */
const pages: readonly WatchedPage[] = [
  {
    path: "/ui/",
    perFrame: 50,
    begin: ["functions", { on: "functions", begin: true, more: false, rows: manyFunctions.slice(0, 500), removed: [] }],
    change: (index) => [
      "functions",
      {
        on: "functions",
        begin: false,
        more: false,
        rows: Array.from({ length: 10 }, (_, part) => {
          const row: unknown[] = [...(manyFunctions[(index * 10 + part) % 500] ?? [])];
          return row.with(4, index % 100);
        }),
        removed: [],
      },
    ],
  },
  {
    path: "/ui/calls",
    perFrame: 50,
    begin: ["calls", { on: "calls", begin: true, calls: manyCalls.slice(0, 50), removed: [], skipped: 0 }],
    change: (index) => [
      "calls",
      {
        on: "calls",
        begin: false,
        calls: [{ ...manyCalls[index % 100], state: index % 2 === 0 ? "running" : "done" }],
        removed: [],
        skipped: 0,
      },
    ],
  },
  {
    path: "/ui/f/functions/hello/logs",
    // Each frame shows other lines, which wrap, and so have heights of their own.
    perFrame: 5,
    begin: ["log", { on: "log:functions:hello", begin: true, records: [], skipped: 0 }],
    change: (index) => [
      "log",
      {
        on: "log:functions:hello",
        begin: false,
        records: Array.from({ length: 20 }, (_, line) => ({
          name: "hello",
          namespace: "functions",
          instance: "hello-1-0",
          timestamp: new Date(Date.UTC(2026, 0, 31) + index * 20 + line).toISOString(),
          text: `line ${index} ${line} ${"x".repeat(300)}\n`,
        })),
        skipped: 0,
      },
    ],
    last: (index) => `line ${index} 19 x`,
    button: "Wrap",
  },
];

const options = { prepare: ({ deploy }: ConsoleWeir) => deploy({ service: "hello", envProcess: "cat" }) };

/** A page that is left open for a day, its events one after the other: its memory stays as it was. */
describeFrontedConsole("a page that is open for long", options, (opened) => {
  test.each(pages.map((one) => [one.path, one] as const))(
    "%s",
    async (path, { begin, change, perFrame, last, button }) => {
      const { front, page, window } = opened();
      let send: ((text: string) => Promise<void>) | undefined;
      front.replace(watch, (_request, response) => {
        response.writeHead(200, { "content-type": "text/event-stream" });
        send = (text) => new Promise((resolve) => response.write(text, () => resolve()));
        void send(writtenEvent(hello) + writtenEvent(begin));
      });
      const devtools = await window.context.newCDPSession(page);
      await page.goto(path);
      await page.locator("#content h1").waitFor();
      await expect.poll(() => send !== undefined).toBe(true);
      /** As many a second as the page takes, which shows what it was sent. */
      const sendEvents = async (from: number, to: number): Promise<void> => {
        for (let index = from; index < to; index += 1) {
          await send?.(writtenEvent(change(index)));
          if (index % perFrame === 0) await page.evaluate("new Promise((resolve) => requestAnimationFrame(resolve))");
        }
      };
      /** The least of several looks. */
      const heldAfter = async (from: number): Promise<number> => {
        let least = Number.POSITIVE_INFINITY;
        for (let look = 0; look < looks; look += 1) {
          const to = from + (look + 1) * betweenLooks;
          await sendEvents(to - betweenLooks, to);
          if (last !== undefined) await page.getByText(last(to - 1)).waitFor();
          least = Math.min(least, await heldBytes(devtools));
        }
        return least;
      };
      await sendEvents(0, warmEvents);
      if (button !== undefined) {
        const shown = page.getByRole("button", { name: button });
        for (const pressed of [false, true]) {
          await shown.click();
          await shown.and(page.locator(`[aria-pressed=${pressed}]`)).waitFor();
        }
      }
      const before = await heldAfter(warmEvents);
      const next = warmEvents + looks * betweenLooks;
      await sendEvents(next, next + events);
      const after = await heldAfter(next + events);
      say(`${path}: ${Math.round(before / 1_000)} kB, then ${Math.round(after / 1_000)} kB`);
      expect(after).toBeLessThan(before * 1.05);
      await devtools.detach();
      await page.goto("about:blank");
    },
    600_000,
  );
});
