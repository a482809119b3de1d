import {
  openConsoleBrowser,
  type ConsoleBrowser,
  type ConsoleWindow,
} from "../../test/support/console/console-browser.ts";
import { signIn } from "../../test/support/console/sign-in.ts";
import { needTool } from "../tools.ts";

/** A console, and who signs in to it. */
export interface ConsolePlace {
  readonly origin: string;
  readonly password: string;
}

/** A browser in which somebody is signed in. */
export interface SignedInPerson {
  /** Opens a window that has loaded nothing yet, with empty caches. */
  open(): Promise<ConsoleWindow>;
}

/**
 * Chromium without a window.
 * @throws BenchSkipped when it is not available
 */
export function openBenchBrowser(): Promise<ConsoleBrowser> {
  return openConsoleBrowser(needTool("chromium", "chromium"));
}

export async function signInOnce(browser: ConsoleBrowser, { origin, password }: ConsolePlace): Promise<SignedInPerson> {
  await using first = await browser.open({ origin });
  await signIn(first.page, { password });
  const cookies = await first.context.cookies();
  const half = await first.page.evaluate('sessionStorage.getItem("weir-session")');
  return {
    open: async () => {
      const window = await browser.open({ origin });
      await window.context.addCookies(cookies);
      // What a tab knows of its session, beside the cookie.
      const content = `sessionStorage.setItem("weir-session", ${JSON.stringify(half)})`;
      await window.context.addInitScript({ content });
      return window;
    },
  };
}
