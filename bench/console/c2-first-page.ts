import { openConsoleWeir } from "../../test/support/console/console-weir.ts";
import type { BenchRow } from "../bench-row.ts";
import { consoleRow } from "./console-row.ts";
import { openBenchBrowser, signInOnce } from "./signed-in.ts";
import { watchShown } from "./watch-shown.ts";

/** Milliseconds since the navigation. */
interface FirstPage {
  /** First paint that is more than the background. */
  readonly paint: number;
  /** First frame with a function in the list. */
  readonly data: number;
}

/** C2: the first page of Weir on one machine, for somebody who is signed in and whose browser has nothing of it yet. */
export const c2FirstPage: readonly BenchRow[] = [
  row("first paint of content", "paint", 1_000),
  row("data on the page", "data", 1_500),
];

function row(what: string, figure: keyof FirstPage, bar: number): BenchRow {
  return consoleRow({
    id: "C2",
    what: `console of one machine, cold cache: ${what}`,
    unit: "ms",
    bar,
    open: async (opened) => {
      const measure = await openFirstPage(opened);
      return async () => (await measure())[figure];
    },
  });
}

async function openFirstPage(opened: AsyncDisposableStack): Promise<() => Promise<FirstPage>> {
  const browser = opened.use(await openBenchBrowser());
  const { origin, weir, deploy } = opened.use(await openConsoleWeir());
  await deploy({ service: "hello", envProcess: "cat" });
  const person = await signInOnce(browser, { origin, password: weir.password });
  return async () => {
    await using window = await person.open();
    const { context, page } = window;
    const shownAfter = await watchShown(context, { selector: ".virtual-rows .row" });
    const data = await shownAfter(() => page.goto("/ui/"));
    const paint = Number(
      await page.evaluate('performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? NaN'),
    );
    if (!(paint > 0)) throw new Error("Cannot measure the first paint: the browser does not say when it was");
    return { paint, data };
  };
}
