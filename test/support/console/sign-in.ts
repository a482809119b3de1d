import type { Page } from "playwright-core";

import type { WeirProcess } from "../weir-process.ts";

/** Signs in on the page that asks for it, and waits until the console shows a page. */
export async function signIn(page: Page, { password }: Pick<WeirProcess, "password">, path = "/ui/"): Promise<void> {
  await page.goto(path);
  await fillIn(page, password);
}

/** Opens a page, and signs in if it asks for it: the half of a session is a tab's own, so another tab has to. */
export async function signInWhereAsked(
  page: Page,
  { password }: Pick<WeirProcess, "password">,
  path = "/ui/",
): Promise<void> {
  await page.goto(path);
  const field = page.getByLabel("Password");
  await field.or(page.locator("#content h1")).first().waitFor();
  if (await field.isVisible()) await fillIn(page, password);
}

async function fillIn(page: Page, password: string): Promise<void> {
  await page.getByLabel("Password").fill(password);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.locator("#content h1").waitFor();
}
