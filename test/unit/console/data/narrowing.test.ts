import { h } from "preact";
import { describe, expect, test } from "vitest";

import { PageAddress } from "../../../../runtime/console/data/address/page-address.ts";
import { useNarrowedText } from "../../../../runtime/console/data/address/use-narrowed-text.ts";
import { useNarrowing } from "../../../../runtime/console/data/address/use-narrowing.ts";
import { historyWindow } from "../history-window.ts";
import { partRenderer } from "../shown-parts.ts";

const shownPart = partRenderer();

/** Shows two members of the address's query, one that is chosen and one that is typed. */
async function open(target: string) {
  const window = historyWindow(target);
  const address = new PageAddress({ window: window.made });
  const search = (): string => new URL(window.href() ?? "").search;
  let choose: (value: string) => void = () => {};
  let typed: ReturnType<typeof useNarrowedText>["typed"] | undefined;
  function Probe() {
    const [sort, change] = useNarrowing("sort", "name");
    const text = useNarrowedText("q");
    choose = change;
    ({ typed } = text);
    return `${sort.value} ${text.narrowed.value}`;
  }
  const { body } = shownPart(h(Probe, {}), undefined, undefined, address);
  return {
    window,
    address,
    shows: (words: string) => expect.poll(() => body.text).toBe(words),
    isAt: (query: string) => expect.poll(search).toBe(query),
    search,
    choose: (value: string) => choose(value),
    type: (value: string) => {
      if (typed !== undefined) typed.value = value;
    },
  };
}

describe("what narrows a page", () => {
  test("comes from the address, and what is usual is not in it", async () => {
    const { shows, isAt, choose } = await open("/ui/?sort=-calls&q=pay");
    await shows("-calls pay");

    choose("state");
    await shows("state pay");
    await isAt("?sort=state&q=pay");
    choose("name");

    await shows("name pay");
    await isAt("?q=pay");
  });

  test("is shown as it is typed, and stands in the address after a pause, without an entry of its own", async () => {
    const { shows, isAt, search, type, address, window } = await open("/ui/?q=before");
    address.narrow({ q: "" });
    await shows("name ");

    type("pa");
    await shows("name pa");
    type("pay");
    await shows("name pay");
    await isAt("?q=pay");
    // At the very moment when the address follows, somebody types on.
    type("");

    expect(search()).toBe("?q=pay");
    await isAt("");
    expect(window.count()).toBe(1);
  });

  test("follows back and forward", async () => {
    const { shows, address, window } = await open("/ui/?q=one");
    await shows("name one");

    address.go("/ui/?q=two&sort=state");
    await shows("state two");
    window.back();

    await shows("name one");
  });
});
