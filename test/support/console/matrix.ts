import { beforeAll, describe, test } from "vitest";

import { judgePage, openPage, type Look } from "./judge-page.ts";
import { describeFrontedConsole } from "./opened-console.ts";
import { emptyCases, type PageCase } from "./page-cases.ts";
import { testSeededPages } from "./seeded-pages.ts";
import { signIn } from "./sign-in.ts";

/** Makes a test of each page in each state, looked at as `looks` say; one Weir and one browser are for all of them. */
export function judgeAllPages(looks: readonly Look[]): void {
  const options = { flags: ["--edition=enterprise"], isSignedIn: false };
  describeFrontedConsole("pages of the console", options, (opened) => {
    beforeAll(async () => {
      const { page, weir } = opened();
      await page.goto("/ui/");
      await page.getByLabel("Password").waitFor();
      await judgePage(page, { page: "sign-in", state: "empty", path: "/ui/", shows: "" }, looks);
      await signIn(page, weir.weir);
    });

    async function judge(one: PageCase): Promise<void> {
      const { front, page } = opened();
      one.replies?.(front);
      await openPage(page, one);
      await judgePage(page, one, looks);
      // The browser drops the stream before the rules end.
      await page.goto("about:blank");
    }

    describe("on a platform without functions", () => {
      test.each(emptyCases)("$page, $state", (one) => judge(one));
    });
    describe("on a platform with something of everything", () => {
      testSeededPages(opened, judge);
    });
  });
}
