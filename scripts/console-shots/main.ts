import { writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";

import { openConsoleBrowser } from "../../test/support/console/console-browser.ts";
import { jsonReply, openConsoleFront } from "../../test/support/console/console-front.ts";
import { openConsoleWeir } from "../../test/support/console/console-weir.ts";
import { signIn } from "../../test/support/console/sign-in.ts";
import { freePort } from "../../test/support/free-port.ts";
import { installedTool } from "../debian-tool.ts";
import { callSteadily } from "./call-steadily.ts";
import { openShop } from "./open-shop.ts";
import { pastRollups } from "./past-rollups.ts";
import { shopFunctions } from "./shop-functions.ts";
import { shots } from "./shots.ts";

/**
 * Makes the pictures of docs/console.md: pages of a Weir on this machine that runs the functions of a shop, in Debian's
 * Chromium. Only the curves of the 15 minutes before are made up, as it has not run for so long.
 */
const directory = fileURLToPath(new URL("../../docs/images/", import.meta.url));
const width = 1_280;
/** A larger picture is too much for a page of the documentation, bytes. */
const mostBytes = 150_000;

// Whatever runs ends with this process.
process.once("SIGINT", () => process.exit(130));
const program = installedTool("chromium", "chromium", console.error);
if (program === undefined) {
  throw new Error("Cannot make the pictures: Chromium is not available (Debian: apt-get install chromium)");
}
const port = await freePort();
const origin = `http://127.0.0.1:${port}`;
await using weir = await openConsoleWeir({ flags: ["--edition=enterprise"], origins: [origin] });
await using front = await openConsoleFront(port, weir.origin);
front.replace(/^GET \/system\/rollups\?/, (request, response) => {
  const named = new URL(request.url ?? "", origin).searchParams.get("function") ?? "";
  jsonReply(pastRollups(shopFunctions, named, Date.now()))(request, response);
});
const shop = await openShop(weir);
await using _calls = callSteadily(weir.calls, shopFunctions);
await using browser = await openConsoleBrowser(program);
await using window = await browser.open({ origin, width });
const { page } = window;
await signIn(page, weir.weir);
for (const { name, theme, path, height, ready } of shots(shop)) {
  await page.emulateMedia({ colorScheme: theme, reducedMotion: "reduce" });
  await page.setViewportSize({ width, height });
  await page.goto(path);
  await ready(page);
  const picture = await page.screenshot({ animations: "disabled", caret: "hide" });
  if (picture.byteLength > mostBytes) {
    throw new Error(`Cannot keep ${name}.png: it has ${picture.byteLength} bytes, at most ${mostBytes} are allowed`);
  }
  await writeFile(`${directory}${name}.png`, picture);
  console.log(`docs/images/${name}.png: ${picture.byteLength} bytes`);
}
