import { jsonReply, openConsoleFront, streamReply } from "../../test/support/console/console-front.ts";
import { openConsoleWeir } from "../../test/support/console/console-weir.ts";
import { longCall, manyCalls } from "../../test/support/console/many-rows.ts";
import { freePort } from "../../test/support/free-port.ts";
import type { BenchRow } from "../bench-row.ts";
import { spreadOf } from "../interleave.ts";
import { chartScript, drawLargeChart, largeChart } from "./chart-program.ts";
import { consoleRow } from "./console-row.ts";
import { openBenchBrowser, signInOnce } from "./signed-in.ts";
import { watchShown } from "./watch-shown.ts";

const attempts = 132;
/** A measurement is the median of so many. */
const drawings = 7;

/** C4: what is drawn at once. */
export const c4Drawings: readonly BenchRow[] = [
  consoleRow({
    id: "C4",
    what: `page of a call with ${attempts} attempts: from its data to the waterfall on the screen`,
    unit: "ms",
    bar: 50,
    open: openWaterfall,
  }),
  consoleRow({
    id: "C4",
    what: `chart of ${largeChart.lines} lines of ${largeChart.points} points`,
    unit: "ms",
    bar: 100,
    open: openChart,
  }),
];

/** Opens the page of the call from the list of calls, whose scripts are its own. */
async function openWaterfall(opened: AsyncDisposableStack): Promise<() => Promise<number>> {
  const browser = opened.use(await openBenchBrowser());
  const port = await freePort();
  const origin = `http://127.0.0.1:${port}`;
  const weir = opened.use(await openConsoleWeir({ origins: [origin] }));
  const front = opened.use(await openConsoleFront(port, weir.origin));
  const [call] = manyCalls;
  if (call === undefined) throw new Error("Cannot measure the waterfall: there is no call");
  const path = `/system/calls/${call.callId}`;
  front.replace(/^GET \/system\/watch\?/, streamReply([]));
  const history = { lagSeconds: 0, complete: true, gaps: [] };
  front.replace(
    /^GET \/system\/calls(?:\?|$)/,
    jsonReply({ items: [call], total: { value: 1, exact: true }, history }),
  );
  front.replace(new RegExp(`^GET ${path}$`), jsonReply(longCall(call.callId)));
  const person = await signInOnce(browser, { origin, password: weir.weir.password });
  const { page, context } = opened.use(await person.open());
  // A row for the queue, and one for each attempt.
  const shownAfter = await watchShown(context, { selector: ".waterfall-row", count: attempts + 1 });
  const measure = async (): Promise<number> => {
    await page.goto("/ui/calls");
    const shown = await shownAfter(() => page.locator(`a[href$="${call.callId}"]`).first().click());
    const arrived = Number(
      await page.evaluate(
        `performance.getEntriesByType("resource").find(({ name }) => new URL(name).pathname === "${path}")?.responseEnd`,
      ),
    );
    if (!(arrived > 0)) throw new Error("Cannot measure the waterfall: the page did not ask for the call");
    return shown - arrived;
  };
  return () => medianOf(measure);
}

async function openChart(opened: AsyncDisposableStack): Promise<() => Promise<number>> {
  const browser = opened.use(await openBenchBrowser());
  const { origin, weir } = opened.use(await openConsoleWeir());
  const person = await signInOnce(browser, { origin, password: weir.password });
  const { page } = opened.use(await person.open());
  await page.goto("/ui/queues");
  await page.locator("#content h1").waitFor();
  await page.evaluate(await chartScript());
  return () => medianOf(async () => Number(await page.evaluate(drawLargeChart)));
}

async function medianOf(measure: () => Promise<number>): Promise<number> {
  const times: number[] = [];
  for (let drawing = 0; drawing < drawings; drawing += 1) times.push(await measure());
  return spreadOf(times).median;
}
