import { afterAll, afterEach, beforeAll, describe, test } from "vitest";

import { freePort } from "../free-port.ts";
import { openConsoleBrowser, type ConsoleBrowser, type ConsoleWindow } from "./console-browser.ts";
import { openConsoleFront, type ConsoleFront } from "./console-front.ts";
import { openConsoleWeir, type ConsoleWeir } from "./console-weir.ts";
import { judgePage, openPage, type Look } from "./judge-page.ts";
import { emptyCases, seededCases, type PageCase } from "./page-cases.ts";
import { expectNoFaults } from "./page-faults.ts";
import { seedWeir } from "./seed-weir.ts";
import { signIn } from "./sign-in.ts";

const seeded = { done: "", failed: "" };
const named = (cases: readonly PageCase[]) => cases.map((one) => [`${one.page}, ${one.state}`, one] as const);

/** Makes a test of each page in each state, looked at as `looks` say; one Weir and one browser are for all of them. */
export function judgeAllPages(program: string, looks: readonly Look[]): void {
  let weir: ConsoleWeir;
  let front: ConsoleFront;
  let browser: ConsoleBrowser;
  let window: ConsoleWindow;

  beforeAll(async () => {
    const port = await freePort();
    const origin = `http://127.0.0.1:${port}`;
    weir = await openConsoleWeir({ flags: ["--edition=enterprise"], origins: [origin] });
    front = await openConsoleFront(port, weir.origin);
    browser = await openConsoleBrowser(program);
    window = await browser.open({ origin });
    await judgePage(await signInPage(), { page: "sign-in", state: "empty", path: "/ui/", shows: "" }, looks);
    await signIn(window.page, weir.weir);
  }, 120_000);
  afterAll(async () => {
    await window?.[Symbol.asyncDispose]();
    await browser?.[Symbol.asyncDispose]();
    await front?.[Symbol.asyncDispose]();
    await weir?.[Symbol.asyncDispose]();
  });
  afterEach(() => front.restore());

  async function signInPage() {
    const { page } = window;
    await page.goto("/ui/");
    await page.getByLabel("Password").waitFor();
    return page;
  }

  async function judge(one: PageCase): Promise<void> {
    const { page } = window;
    one.replies?.(front);
    await openPage(page, one);
    await judgePage(page, one, looks);
    // The browser drops the stream before the rules end.
    await page.goto("about:blank");
  }

  describe("on a platform without functions", () => {
    test.each(named(emptyCases))("%s", (_name, one) => judge(one));
  });
  describe("on a platform with something of everything", () => {
    beforeAll(async () => {
      Object.assign(seeded, await seedWeir(weir));
    });
    test.each(named(seededCases({ done: "{done}", failed: "{failed}" })))("%s", (_name, { page, state }) => {
      // Ids are known only now.
      const one = seededCases(seeded).find((each) => each.page === page && each.state === state);
      if (one === undefined) throw new Error(`there is no page ${page} in state ${state}`);
      return judge(one);
    });
  });
  test("no page broke its rules, and nothing was asked of any other host", async () => {
    expectNoFaults(window.faults);
    if (browser.asked.length > 0) throw new Error(`the browser asked for ${browser.asked.join(", ")}`);
  });
}
