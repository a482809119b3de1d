import { beforeAll, expect, test } from "vitest";
import type { Locator, Page } from "playwright-core";

import type { FunctionStatus } from "../../../runtime/api/schemas/function-status.ts";
import { axeFindings } from "../../support/console/axe-findings.ts";
import type { ConsoleWeir } from "../../support/console/console-weir.ts";
import { describeConsole } from "../../support/console/opened-console.ts";
import { waitForWords, waitUntilUnsaid } from "../../support/console/page-words.ts";
import { seedWeir } from "../../support/console/seed-weir.ts";
import { signInWhereAsked } from "../../support/console/sign-in.ts";

/** Streams that a gateway has at once. */
const mostStreams = 200;

/** What a gateway refuses, and what the page that asked makes of it; a 403 is in `rights.test.ts`. */
describeConsole("a page that is refused something", { flags: ["--edition=pro"], prepare: seedWeir }, (opened) => {
  let weir: ConsoleWeir;
  let page: Page;
  beforeAll(() => {
    ({ weir, page } = opened());
  });

  const shows = (text: string | RegExp) => waitForWords(page, text);

  test("shows that its function was deleted, and leads to its past calls", async () => {
    await weir.deploy({ service: "gone", envProcess: "cat" });
    await page.goto("/ui/f/functions/gone");
    await shows("Replicas");
    const response = await weir.api("DELETE", "/system/functions", { functionName: "gone" });
    expect(response.status).toBe(202);
    await shows('There is no function "gone" in "functions" (any more)');
    await page.getByRole("link", { name: "Its past calls" }).click();
    await page.getByRole("heading", { level: 1, name: "Calls" }).waitFor();
  });

  /** Opens the form of a secret, writes a name, and ends the session in another tab. */
  async function typeWhileSessionEnds(typed: string): Promise<Locator> {
    await page.getByRole("button", { name: "New secret" }).click();
    const name = page.getByRole("dialog").getByRole("textbox", { name: "Name" });
    await name.fill(typed);
    const other = await opened().window.context.newPage();
    await signInWhereAsked(other, weir.weir);
    await other.getByRole("button", { name: "Sign out" }).click();
    await other.getByLabel("Password").waitFor();
    await other.close();
    return name;
  }
  const store = async (): Promise<void> => {
    await page.getByLabel("Value", { exact: true }).fill("v");
    await page.getByRole("button", { name: "Store secret" }).click();
  };
  async function signInAgain(): Promise<void> {
    const again = page.getByRole("dialog", { name: "Your session is over" });
    await again.waitFor();
    expect(await axeFindings(page)).toEqual([]);
    await again.getByLabel("Password").fill(weir.weir.password);
    await again.getByRole("button", { name: "Sign in" }).click();
    await again.waitFor({ state: "detached" });
  }

  test("hears that its session ended, and keeps what was typed until somebody signs in", async () => {
    await page.goto("/ui/secrets");
    const name = await typeWhileSessionEnds("typed-before");
    await signInAgain();
    expect(await name.inputValue()).toBe("typed-before");
    await store();
    await shows("Sent: Store secret typed-before");
  });

  test("sends after a new sign-in what was refused without one", async () => {
    await page.goto("/ui/secrets");
    await shows("typed-before");
    // Without a stream only the request itself learns of the end.
    await page.evaluate(`
      Object.defineProperty(document, "visibilityState", { value: "hidden", configurable: true });
      document.dispatchEvent(new Event("visibilitychange"));
    `);
    await typeWhileSessionEnds("sent-once");
    await store();
    await signInAgain();
    await shows("Sent: Store secret sent-once");
    await page.getByRole("table", { name: "Secrets" }).getByText("sent-once").waitFor();
  });

  test("says that a function is there already, and leads to it", async () => {
    await page.goto("/ui/new");
    // The sample has the name of the function that is there.
    await page.getByRole("button", { name: "Capital letters" }).click();
    await page.getByRole("button", { name: "Deploy" }).click();
    await page
      .getByRole("alert")
      .getByText(/hello.*exists/)
      .waitFor();
    await page.getByRole("link", { name: "Show the one that is there" }).click();
    await page.getByRole("heading", { level: 1, name: "hello" }).waitFor();
  });

  test("says that somebody else changed the function, and shows what is there now", async () => {
    await page.goto("/ui/f/functions/hello/edit");
    const image = page.getByRole("textbox", { name: "Image" });
    await image.fill("typed-here");
    const response = await weir.api("GET", "/system/function/hello");
    const { envProcess, envVars, annotations } = (await response.json()) as FunctionStatus;
    await weir.deploy({ service: "hello", envProcess, envVars, annotations, labels: { changed: "elsewhere" } });
    await shows(/The function was changed while you edited it/);
    const send = page.getByRole("button", { name: /^Send/ });
    expect(await send.getAttribute("aria-disabled")).toBe("true");
    expect(await image.inputValue()).toBe("typed-here");
    await page.getByRole("button", { name: "Compare with what is there now" }).click();
    // What the other one changed is a difference, too, before anything is sent.
    await shows("elsewhere");
    expect(await send.getAttribute("aria-disabled")).toBe("false");
    expect(await image.inputValue()).toBe("typed-here");
  });

  test("says that too many streams are open, asks every 10 s meanwhile, and has its own as soon as it can", async () => {
    await page.goto("about:blank");
    const stop = new AbortController();
    const { url, authorization } = weir.weir;
    // A reply that nobody holds is given up.
    const held: Response[] = [];
    const isRefused = async (): Promise<boolean> => {
      const response = await fetch(`${url}/system/watch?on=queues`, {
        headers: { authorization },
        signal: stop.signal,
      });
      held.push(response);
      return response.status === 429;
    };
    try {
      // The page's own stream may end a moment later.
      await expect
        .poll(async () => (await Promise.all(Array.from({ length: mostStreams }, isRefused))).some(Boolean))
        .toBe(true);
      await page.goto("/ui/");
      await shows(/200 streams are open; this page asks every 10 s/);
      await shows("hello");
      await weir.deploy({ service: "while-full", envProcess: "cat" });
      await shows("while-full");
      expect(held.filter(({ status }) => status === 200)).toHaveLength(mostStreams);
    } finally {
      stop.abort();
    }
    await waitUntilUnsaid(page, /streams are open/);
    await weir.deploy({ service: "not-full", envProcess: "cat" });
    await shows("not-full");
  });

  test("of the sign-in says when it may ask again", async () => {
    await using stranger = await opened().browser.open({ origin: weir.origin });
    const { page: other } = stranger;
    await other.goto("/ui/");
    const alert = other.getByRole("alert");
    const button = other.getByRole("button", { name: "Sign in" });
    for (let tries = 0; tries < 25; tries += 1) {
      await other.getByLabel("Password").fill(`wrong ${tries}`);
      await button.click();
      await alert.waitFor();
      await expect.poll(() => button.getAttribute("aria-busy")).toBe("false");
      if (((await alert.textContent()) ?? "").includes("Try again in")) break;
    }
    expect(await alert.textContent()).toMatch(/too many .*Try again in \d+ seconds?\./);
  });
});
