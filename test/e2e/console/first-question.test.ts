import { expect, test } from "vitest";

import { problemReply, type FrontReply } from "../../support/console/console-front.ts";
import { describeFrontedConsole } from "../../support/console/opened-console.ts";
import { waitForWords } from "../../support/console/page-words.ts";

const cut: FrontReply = (_request, response) => void response.destroy();
const busy = problemReply(503, "not_ready", "Cannot answer yet: the gateway is starting", { "retry-after": "1" });

/** Before a page shows anything it asks who is signed in. */
describeFrontedConsole("a page that does not learn who is signed in", {}, (opened) => {
  test.each([
    ["is cut off", cut, "Cannot find out who is signed in: the gateway does not reply"],
    ["is told to wait", busy, "Cannot answer yet: the gateway is starting"],
  ])("as its question %s says so, and asks again by itself", async (_name, reply, words) => {
    const { front, page } = opened();
    front.replace(/^GET \/auth\/session/, reply);
    await page.goto("/ui/");
    await waitForWords(page, words);
    expect(await page.getByLabel("Password").count()).toBe(0);
    front.restore();
    await page.getByRole("heading", { level: 1, name: "Functions" }).waitFor();
  });
});
