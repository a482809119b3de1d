import { describe, expect, test } from "vitest";

import { pageMatcher } from "../../../../runtime/console/data/address/match-page.ts";
import { PageAddress } from "../../../../runtime/console/data/address/page-address.ts";
import { pageLink } from "../../../../runtime/console/data/address/page-links.ts";
import { pageTable } from "../../../../runtime/console/page-table.ts";
import { historyWindow } from "../history-window.ts";

describe("PageAddress", () => {
  test("what narrows the page is in the address, without an entry of its own", () => {
    const window = historyWindow("/ui/calls?state=failed");
    const address = new PageAddress({ window: window.made });

    address.narrow({ function: "hello.dev", state: "" });

    expect(window.href()).toBe("http://console/ui/calls?function=hello.dev");
    expect(window.count()).toBe(1);
    expect([...address.place.value.query]).toEqual([["function", "hello.dev"]]);
    expect(address.place.value.visit).toBe(0);
  });

  test("back brings the filter and the scroll of the page before", () => {
    const window = historyWindow("/ui/");
    const address = new PageAddress({ window: window.made });
    address.narrow({ q: "pay" });
    window.scrollTo(1_234);

    address.go("/ui/f/dev/pay");
    expect(address.takeScroll("/ui/f/dev/pay")).toBeUndefined();
    expect(address.place.value).toMatchObject({ path: "/ui/f/dev/pay", visit: 1 });
    window.back();

    expect(address.place.value).toMatchObject({ path: "/ui/", visit: 2 });
    expect(address.place.value.query.get("q")).toBe("pay");
    expect(address.takeScroll("/ui/")).toBe(1_234);
    expect(address.takeScroll("/ui/")).toBeUndefined();
  });

  test("a page that is shown after it was left does not take the scroll of the one that came back", () => {
    const window = historyWindow("/ui/");
    const address = new PageAddress({ window: window.made });
    window.scrollTo(1_234);

    address.go("/ui/f/dev/pay");
    window.back();

    expect(address.takeScroll("/ui/f/dev/pay")).toBeUndefined();
    expect(address.takeScroll("/ui/")).toBe(1_234);
  });
});

describe("pageMatcher()", () => {
  const match = pageMatcher(pageTable);

  test("names of a path are decoded", () => {
    expect(match("/ui/f/dev/a%20b/logs")).toMatchObject({ page: "logs", params: { namespace: "dev", name: "a b" } });
    expect(match("/ui/f/dev/%E0%A4%A/logs")).toMatchObject({ params: { name: "%E0%A4%A" } });
  });

  test("what is no page leads nowhere", () => {
    for (const path of ["/", "/ui", "/ui/nothing", "/ui/f/dev", "/ui/f/dev/hello/nothing"]) {
      expect(match(path)).toBeUndefined();
    }
  });

  test("the links to functions lead to a page", () => {
    const tabs = ["", "try", "logs", "scaling", "edit"] as const;
    const links = [pageLink.overview, pageLink.newFunction, ...tabs.map((tab) => pageLink.function("dev", "a-b", tab))];

    expect(links.filter((link) => match(link) === undefined)).toEqual([]);
  });

  test("every page of the table is in its group", async () => {
    const missing = await Promise.all(
      pageTable.map(async ({ paths, load }) => {
        const pages = await load();
        return Object.values(paths).filter((page) => pages[page] === undefined);
      }),
    );

    expect(missing.flat()).toEqual([]);
  });
});
