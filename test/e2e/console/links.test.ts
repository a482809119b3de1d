import { beforeAll, expect, test } from "vitest";
import type { Page } from "playwright-core";

import type { ConsoleWeir } from "../../support/console/console-weir.ts";
import { describeConsole } from "../../support/console/opened-console.ts";
import { seedWeir } from "../../support/console/seed-weir.ts";

/** Calls and their parts differ by their ids only; of each kind of page a few are enough. */
const fewOfAKind = 3;

const options = {
  flags: ["--edition=enterprise", "--max-inflight=8"],
  prepare: async (weir: ConsoleWeir) => {
    await seedWeir(weir);
    const ids = await Promise.all(Array.from({ length: 120 }, () => weir.calls.accepted("hello", { body: "hi" })));
    await Promise.all(ids.map((id) => weir.calls.ended(id)));
  },
};

describeConsole("addresses", options, (opened) => {
  let page: Page;
  beforeAll(() => {
    ({ page } = opened());
  });

  const linksOf = async (): Promise<readonly string[]> =>
    (
      await page.locator("a[href]").evaluateAll((links) => links.map((link) => String(link.getAttribute("href"))))
    ).filter((href) => !href.startsWith("#"));
  /** The address without what differs between pages of one kind. */
  const kindOf = (href: string): string => href.replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, "<id>").replace(/\?.*/, "?");

  test("every link of every page leads to a page", async () => {
    const waiting = ["/ui/"];
    const seen = new Set(waiting);
    const kinds = new Map<string, number>();
    for (let href = waiting.pop(); href !== undefined; href = waiting.pop()) {
      const response = await page.goto(href);
      expect([href, response?.status()]).toEqual([href, 200]);
      const heading = page.locator("#content h1");
      await heading.waitFor();
      await page.locator(".waiting").first().waitFor({ state: "detached" });
      expect([href, await heading.textContent()]).not.toEqual([href, "There is no such page"]);
      expect([href, await page.getByText("This is a defect of the console").count()]).toEqual([href, 0]);
      for (const link of await linksOf()) {
        // What follows the mark is a part of that page.
        const next = link.replace(/#.*/, "");
        const kind = kindOf(next);
        const count = kinds.get(kind) ?? 0;
        if (seen.has(next) || count >= fewOfAKind) continue;
        // No page leads elsewhere.
        expect([href, next]).toEqual([href, expect.stringMatching(/^\/ui\//)]);
        kinds.set(kind, count + 1);
        seen.add(next);
        waiting.push(next);
      }
    }
    expect(kinds.size).toBeGreaterThan(15);
  }, 300_000);

  /** The numbers of the rows that are rendered, as a script of the page. */
  const rows = "[...document.querySelectorAll('[data-index]')].map((row) => row.dataset.index).join()";
  /** The heading of a page of one call; that of the list is "Calls". */
  const headOfCall = () => page.getByRole("heading", { level: 1, name: /^Call \S/ });

  test("back and forward bring back the filter and where the page was scrolled to", async () => {
    await page.goto("/ui/calls");
    await page.getByRole("button", { name: "done" }).click();
    await expect.poll(() => page.url()).toMatch(/state=done/);
    await page.getByRole("button", { name: "Show older calls" }).click();
    await page.getByText("121 calls", { exact: true }).waitFor();
    // In one go: a key may be pressed before the browser tells where it has scrolled to.
    await page.evaluate(
      "scrollTo(0, 2000); document.body.dispatchEvent(new KeyboardEvent('keydown', { key: 'j', bubbles: true }))",
    );
    await expect
      .poll(() => page.evaluate(`({ focus: document.activeElement?.className, scrollY, rows: ${rows} })`))
      .toMatchObject({ focus: "row-link" });
    const scrolled = Number(await page.evaluate("scrollY"));
    expect(Math.abs(scrolled - 2_000)).toBeLessThan(120);
    await page.keyboard.press("Enter");
    await headOfCall().waitFor();

    await page.goBack();
    await expect.poll(() => page.url()).toMatch(/\/ui\/calls\?state=done$/);
    // Rows are measured as they come into sight, which moves what is below them.
    await expect.poll(async () => Math.abs(Number(await page.evaluate("scrollY")) - scrolled) < 120).toBe(true);
    expect(await page.getByRole("button", { name: "done" }).getAttribute("aria-pressed")).toBe("true");
    await page.goForward();
    await headOfCall().waitFor();
  });

  test("an address with a filter shows the same to who opens it", async () => {
    await page.goto("/ui/calls?function=hello.functions&state=failed&since=1h");
    await page.getByText("1 call", { exact: true }).waitFor();
    expect(await page.getByLabel("Function", { exact: true }).inputValue()).toBe("hello.functions");
    expect(await page.getByLabel("Accepted", { exact: true }).inputValue()).toBe("1h");
    await page.goto("/ui/dead-letters?reason=crash");
    await page.getByText("No dead letter fits these filters").waitFor();
    expect(await page.getByLabel("Reason", { exact: true }).inputValue()).toBe("crash");
  });
});
