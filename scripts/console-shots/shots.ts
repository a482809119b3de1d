import type { Page } from "playwright-core";

import type { ConsoleTheme } from "../../test/support/console/console-browser.ts";
import type { OpenShop } from "./open-shop.ts";

/** A picture of a page. */
export interface Shot {
  /** Of its file, without `.png`. */
  readonly name: string;
  readonly theme: ConsoleTheme;
  readonly path: string;
  /** Pixels; what is below is left out. */
  readonly height: number;
  /** Resolves once the page shows all of it. */
  readonly ready: (page: Page) => Promise<unknown>;
}

const functionPage = "/ui/f/functions";

/** The pictures of `docs/console.md`. */
export function shots({ repeated }: OpenShop): readonly Shot[] {
  return [
    {
      name: "console-overview",
      theme: "light",
      path: "/ui/",
      height: 560,
      ready: async (page) => {
        await page.locator(".sparkline").nth(5).waitFor();
        await page.locator(".figures dd").first().filter({ hasNotText: /^0$/ }).waitFor();
        await page.locator(".figures dd").nth(3).waitFor();
      },
    },
    {
      name: "console-function",
      theme: "dark",
      path: `${functionPage}/checkout`,
      height: 780,
      ready: (page) => page.locator("canvas").nth(1).waitFor(),
    },
    {
      name: "console-try",
      theme: "light",
      path: `${functionPage}/checkout/try`,
      height: 660,
      ready: async (page) => {
        await page.getByLabel("Path and query").fill("/orders?currency=EUR");
        await page.getByLabel("Body").fill('{ "order": 1042, "to": "ada@example.com" }');
        await page.getByRole("button", { name: "Call", exact: true }).click();
        await page.getByText('"accepted"').waitFor();
        await page.mouse.move(0, 0);
      },
    },
    {
      name: "console-logs",
      theme: "dark",
      path: `${functionPage}/send-receipt/logs`,
      height: 640,
      ready: (page) => page.locator(".log-line").nth(15).waitFor(),
    },
    {
      name: "console-call",
      theme: "light",
      path: `/ui/calls/${repeated}`,
      height: 760,
      ready: async (page) => {
        await page.locator(".waterfall-row").nth(3).waitFor();
        await page.locator(".call-line").nth(2).waitFor();
      },
    },
    {
      name: "console-dead-letters",
      theme: "dark",
      path: "/ui/dead-letters",
      height: 560,
      ready: (page) => page.locator(".row .select-box").nth(2).waitFor(),
    },
  ];
}
