import { expect } from "vitest";
import type { Page } from "playwright-core";

import { axeFindings } from "./axe-findings.ts";
import type { ConsoleTheme } from "./console-browser.ts";
import type { PageCase } from "./page-cases.ts";
import { keepShot } from "./page-shots.ts";
import { waitForWords } from "./page-words.ts";

/** Most findings that a failure tells. */
const mostTold = 5;

/** How a page is looked at. */
export interface Look {
  readonly theme: ConsoleTheme;
  readonly width: number;
}

/** Opens a page in a state and waits until it shows what it should. */
export async function openPage(page: Page, { path, shows }: PageCase): Promise<void> {
  await page.goto(path);
  await waitForWords(page, shows);
}

/** Looks at the page as it is now: its screenshot is kept, nothing stands beyond its edge, and axe finds nothing. */
export async function judgePage(page: Page, { page: name, state }: PageCase, looks: readonly Look[]): Promise<void> {
  const found: string[] = [];
  for (const { theme, width } of looks) {
    await page.emulateMedia({ colorScheme: theme, reducedMotion: "reduce" });
    await page.setViewportSize({ width, height: width < 600 ? 760 : 900 });
    const look = `${name}-${state}-${theme}-${width}`;
    await keepShot(page, look);
    for (const finding of await axeFindings(page)) found.push(`${look}: ${finding}`);
    const beyond = await page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth");
    if (Number(beyond) > 0) found.push(`${look}: it is ${Number(beyond)} pixels wider than the window`);
  }
  // Of the same in 10 000 rows a few are enough.
  expect(found.slice(0, mostTold)).toEqual([]);
}
