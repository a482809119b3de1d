import type { Page } from "playwright-core";

/** Waits until a text is in sight on the page. */
export async function waitForWords(page: Page, text: string | RegExp): Promise<void> {
  await page.getByText(text).filter({ visible: true }).first().waitFor();
}

/** Waits until a text is no longer on the page. */
export async function waitUntilUnsaid(page: Page, text: string | RegExp): Promise<void> {
  await page.getByText(text).first().waitFor({ state: "detached" });
}
