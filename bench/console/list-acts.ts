import { setTimeout as pause } from "node:timers/promises";

import type { Locator, Page } from "playwright-core";

/** Something that is done with the list of functions, by the input that a person's mouse and keyboard make. */
export interface ListAct {
  readonly name: "scroll" | "sort" | "filter";
  /** Leads to where it begins. */
  prepare(): Promise<void>;
  /** The act itself: input and nothing else, so that the page does nothing for the bench meanwhile. */
  run(): Promise<void>;
  /** @throws Error when it did not do what it should */
  check(): Promise<void>;
}

interface Point {
  readonly x: number;
  readonly y: number;
}

/** A notch in each frame. */
const wheel = { turns: 120, every: 1_000 / 60, pixels: 120 } as const;
/** The last one is checked. */
const sortedBy = ["In flight", "State", "Function", "Calls/s"] as const;
const sorting = { times: 4, every: 150 } as const;
/** Typed, removed, and typed again in part. */
const typed = { first: "many-77", second: "77" } as const;
const keys = [...typed.first.split(""), ...Array.from(typed.first, () => "Backspace"), ...typed.second.split("")];
const keyEvery = 100;
const middle: Point = { x: 640, y: 600 };

export function listActs(page: Page): readonly ListAct[] {
  const search = page.getByLabel("Search", { exact: true });
  const toTop = async (): Promise<void> => {
    await search.fill("");
    await page.evaluate("scrollTo(0, 0)");
  };
  const expectText = async (locator: Locator, part: string): Promise<void> => {
    const text = (await locator.textContent()) ?? "";
    if (!text.includes(part)) throw new Error(`Cannot measure the list: "${text}" has no "${part}" in it`);
  };
  let heads: readonly Point[] = [];
  let field = middle;
  return [
    {
      name: "scroll",
      prepare: async () => {
        await toTop();
        await page.mouse.move(middle.x, middle.y);
      },
      run: async () => {
        const begun = performance.now();
        for (let turn = 1; turn <= wheel.turns; turn += 1) {
          await page.mouse.wheel(0, wheel.pixels);
          await pause(Math.max(0, begun + turn * wheel.every - performance.now()));
        }
      },
      check: async () => {
        const top = Number(await page.evaluate("scrollY"));
        if (top < (wheel.turns * wheel.pixels) / 2) throw new Error(`the list was scrolled by ${top} pixels only`);
      },
    },
    {
      name: "sort",
      prepare: async () => {
        await toTop();
        heads = await Promise.all(sortedBy.map((text) => centreOf(headOf(page, text))));
      },
      run: async () => {
        for (let time = 0; time < sorting.times; time += 1) {
          for (const { x, y } of heads) {
            await page.mouse.click(x, y);
            await pause(sorting.every);
          }
        }
      },
      check: () => expectText(page.locator('.table-head [aria-sort="descending"]'), sortedBy.at(-1) ?? ""),
    },
    {
      name: "filter",
      prepare: async () => {
        await toTop();
        field = await centreOf(search);
      },
      run: async () => {
        await page.mouse.click(field.x, field.y);
        for (const key of keys) {
          await page.keyboard.press(key);
          await pause(keyEvery);
        }
      },
      check: () => expectText(page.locator(".filters-count"), " of 10,000 functions"),
    },
  ];
}

function headOf(page: Page, text: string): Locator {
  return page.locator(".table-head button").filter({ hasText: text });
}

async function centreOf(locator: Locator): Promise<Point> {
  const box = await locator.boundingBox();
  if (box === null) throw new Error("Cannot measure the list: what should be clicked is not on the page");
  return { x: box.x + box.width / 2, y: box.y + box.height / 2 };
}
