import type { BrowserContext, Page } from "playwright-core";

import type { BenchRow } from "../bench-row.ts";
import { manyName } from "../many/many-functions.ts";
import { changeRows, expectChangingRows } from "./changing-rows.ts";
import { consoleRow } from "./console-row.ts";
import { fullCount, openFullConsole } from "./full-console.ts";
import { listActs, type ListAct } from "./list-acts.ts";
import { openBenchBrowser, signInOnce, type SignedInPerson } from "./signed-in.ts";
import { traceSmoothness, type Smoothness } from "./trace-page.ts";
import { watchShown } from "./watch-shown.ts";

const changing = 500;
/** One collection leaves what was just let go. */
const collections = 5;

const used = `${fullCount} functions, ${changing} rows a second change, scroll, sort and filter`;

/** C3: the list of 10 000 functions, of which 500 rows a second change. */
export const c3ManyFunctions: readonly BenchRow[] = [
  consoleRow({
    id: "C3",
    what: `${fullCount} functions, ${changing} rows a second change: from opening the page, cold cache, to the list`,
    unit: "ms",
    bar: 1_000,
    open: openShown,
  }),
  consoleRow({
    id: "C3",
    what: `${used}: main thread ran a frame, p95 of the worst of the three`,
    unit: "ms",
    bar: 8,
    open: (opened) => openSmoothness(opened, ({ work }) => work),
  }),
  consoleRow({
    id: "C3",
    what: `${used}: main thread ran a task, longest`,
    unit: "ms",
    bar: 50,
    open: (opened) => openSmoothness(opened, ({ longestTask }) => longestTask),
  }),
  consoleRow({
    id: "C3",
    what: `${used}: memory of the page (scripts, document, buffers)`,
    unit: "MB",
    bar: 80,
    open: openMemory,
  }),
];

async function openShown(opened: AsyncDisposableStack): Promise<() => Promise<number>> {
  const person = await openChanging(opened);
  return async () => {
    await using window = await person.open();
    const { context, page } = window;
    const shownAfter = await watchShown(context, { selector: ".virtual-rows .row" });
    return await shownAfter(() => page.goto("/ui/"));
  };
}

async function openSmoothness(
  opened: AsyncDisposableStack,
  pick: (smoothness: Smoothness) => number,
): Promise<() => Promise<number>> {
  const { page } = await openList(opened);
  const acts = listActs(page);
  return async () => {
    const figures: number[] = [];
    for (const act of acts) {
      await act.prepare();
      figures.push(pick(await traceSmoothness(page, act.name, () => act.run())));
      await act.check();
    }
    return Math.max(...figures);
  };
}

async function openMemory(opened: AsyncDisposableStack): Promise<() => Promise<number>> {
  const { page, context } = await openList(opened);
  const acts = listActs(page);
  return async () => {
    for (const act of acts) await actOnce(act);
    return await usedMegabytes(context, page);
  };
}

async function actOnce(act: ListAct): Promise<void> {
  await act.prepare();
  await act.run();
  await act.check();
}

/** A page with the list, and its rows. */
async function openList(
  opened: AsyncDisposableStack,
): Promise<{ readonly page: Page; readonly context: BrowserContext }> {
  const person = await openChanging(opened);
  const { page, context } = opened.use(await person.open());
  await page.goto("/ui/");
  await page.locator(".virtual-rows .row").first().waitFor();
  return { page, context };
}

async function openChanging(opened: AsyncDisposableStack): Promise<SignedInPerson> {
  const browser = opened.use(await openBenchBrowser());
  const full = await openFullConsole(opened);
  const spread = fullCount / changing;
  const keys = Array.from({ length: changing }, (_, index) => `${manyName(index * spread)}.functions`);
  opened.use(changeRows(full.functions.broker.link, keys));
  await expectChangingRows(full.port, full.functions.authorization, changing);
  return await signInOnce(browser, full);
}

/** What a page holds after collections: objects of scripts, its document, and buffers. */
async function usedMegabytes(context: BrowserContext, page: Page): Promise<number> {
  const devtools = await context.newCDPSession(page);
  let least = Number.POSITIVE_INFINITY;
  for (let look = 0; look < collections; look += 1) {
    await devtools.send("HeapProfiler.collectGarbage");
    const { usedSize, embedderHeapUsedSize, backingStorageSize } = await devtools.send("Runtime.getHeapUsage");
    least = Math.min(least, usedSize + embedderHeapUsedSize + backingStorageSize);
  }
  await devtools.detach();
  return least / 1_000_000;
}
