import { beforeAll, expect, test } from "vitest";
import type { Page } from "playwright-core";

import { Keyboard } from "../../support/console/keyboard.ts";
import { describeConsole } from "../../support/console/opened-console.ts";
import { seedWeir } from "../../support/console/seed-weir.ts";

describeConsole("shortcuts", { flags: ["--edition=enterprise"], prepare: seedWeir }, (opened) => {
  let page: Page;
  let keys: Keyboard;
  beforeAll(() => {
    ({ page } = opened());
    keys = new Keyboard(page);
  });

  const heading = (name: string | RegExp) => page.getByRole("heading", { level: 1, name });
  const focused = (): Promise<unknown> => page.evaluate("document.activeElement?.textContent");
  const open = async (path: string, title: string): Promise<void> => {
    await page.goto(path);
    await heading(title).waitFor();
  };

  test("the first stop of the focus skips to the content", async () => {
    await open("/ui/secrets", "Secrets");
    await keys.press("Tab");
    expect(await focused()).toBe("Skip to the content");
    await keys.press("Enter");
    expect(await page.evaluate("document.activeElement?.id")).toBe("content");
    expect(page.url()).toMatch(/\/ui\/secrets$/);
  });

  test.each([
    ["g f", "Functions"],
    ["g c", "Calls"],
    ["g q", "Queues"],
    ["g s", "System"],
  ])("%s opens the page %s, whose heading has the focus", async (shortcut, title) => {
    await open("/ui/secrets", "Secrets");
    await keys.press(...shortcut.split(" "));
    await heading(title).waitFor();
    await expect.poll(focused).toBe(title);
  });

  test("/ goes to the search of the page, in which no key is a shortcut", async () => {
    await open("/ui/calls", "Calls");
    await keys.press("/");
    const search = page.getByLabel("Function", { exact: true });
    expect(await search.evaluate((field) => field === document.activeElement)).toBe(true);
    await page.keyboard.type("gq?j/");
    expect(await search.inputValue()).toBe("gq?j/");
    await heading("Calls").waitFor();
    expect(await page.getByRole("dialog").count()).toBe(0);
  });

  test("j and k go from row to row, and Enter opens one", async () => {
    await open("/ui/calls", "Calls");
    const links = page.locator(".row-link");
    await expect.poll(() => links.count()).toBe(2);
    const hrefs = await links.evaluateAll((all) => all.map((link) => link.getAttribute("href")));
    const here = () => page.evaluate("document.activeElement?.getAttribute('href')");
    for (const [key, row] of [
      ["j", 0],
      ["j", 1],
      ["j", 1],
      ["k", 0],
    ] as const) {
      await keys.press(key);
      await expect.poll(here).toBe(hrefs[row]);
    }
    await keys.press("Enter");
    await heading(/^Call /).waitFor();
    expect(new URL(page.url()).pathname).toBe(hrefs[0]);
  });

  test("they can be turned off, and on again", async () => {
    await open("/ui/secrets", "Secrets");
    await keys.press("?");
    const list = page.getByRole("dialog", { name: "Shortcuts" });
    const on = list.getByRole("checkbox", { name: /^Shortcuts are on/ });
    await keys.tabTo(on);
    await keys.press("Space", "Escape");
    await list.waitFor({ state: "detached" });
    await keys.press("g", "q", "?");
    expect(await list.count()).toBe(0);
    expect(await heading("Secrets").isVisible()).toBe(true);

    await keys.activate(page.getByText("Preferences"));
    await keys.activate(page.getByRole("button", { name: "Shortcuts" }));
    await keys.tabTo(on);
    expect(await on.isChecked()).toBe(false);
    await keys.press("Space", "Escape");
    await list.waitFor({ state: "detached" });
    await keys.press("g", "q");
    await heading("Queues").waitFor();
  });
});
