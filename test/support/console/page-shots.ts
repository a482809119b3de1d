import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import type { Page } from "playwright-core";

import { environment } from "../../../runtime/process/settings.ts";

/** Where screenshots are kept, to be looked at: `WEIR_TEST_ARTEFACTS`, else with other things that are made anew. */
export const artefactDirectory =
  environment()["WEIR_TEST_ARTEFACTS"] ??
  fileURLToPath(new URL("../../../node_modules/.cache/weir-console", import.meta.url));

/** Highest screenshot: lists of many rows are as high as all of them. */
const mostHigh = 2_400;

/** Keeps what a page shows, as far down as it goes. */
export async function keepShot(page: Page, name: string): Promise<void> {
  await mkdir(artefactDirectory, { recursive: true });
  const path = join(artefactDirectory, `${name}.png`);
  const [width = 0, height = 0] = (await page.evaluate(
    "[innerWidth, document.documentElement.scrollHeight]",
  )) as readonly number[];
  const clip = { x: 0, y: 0, width, height: Math.min(height, mostHigh) };
  await page.screenshot({ path, fullPage: true, clip, animations: "disabled" });
}
