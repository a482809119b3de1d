import type { Page } from "playwright-core";

import type { WeirProcess } from "../weir-process.ts";

/** Signs in on the page that asks for it, and waits until the console shows a page. */
export async function signIn(page: Page, { password }: Pick<WeirProcess, "password">, path = "/ui/"): Promise<void> {
  await page.goto(path);
  await page.getByLabel("Password").fill(password);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.locator("#content h1").waitFor();
}
