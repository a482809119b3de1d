import { setTimeout as pause } from "node:timers/promises";

import { quantile } from "../../test/support/load.ts";
import type { BenchRow } from "../bench-row.ts";
import { manyName } from "../many/many-functions.ts";
import { say } from "../tools.ts";
import { consoleRow } from "./console-row.ts";
import { fullCount, openFullConsole } from "./full-console.ts";
import { watchReplicas, type SeenReplicas } from "./seen-replicas.ts";
import { openBenchBrowser, signInOnce } from "./signed-in.ts";

/** The functions that are changed one after another, and how often. */
const [changed, waves] = [10, 6];
const first = fullCount - changed;
/** The stream tells of changes once a second: they come at all times of it. */
const tick = 1_000;
const counts = { from: 2, below: 10 } as const;

/** C5: from a request that changes a function to the first frame that shows it. */
export const c5ChangeShown: BenchRow = consoleRow({
  id: "C5",
  what: `${fullCount} functions: from a change to the screen, p99 of ${changed * waves}`,
  unit: "ms",
  bar: 1_500,
  open: async (opened) => {
    const browser = opened.use(await openBenchBrowser());
    const full = await openFullConsole(opened);
    const person = await signInOnce(browser, full);
    const { page, context } = opened.use(await person.open());
    const replicas = await watchReplicas(context);
    // All of them are in sight.
    await page.goto(`/ui/?q=${manyName(first).slice(0, -1)}`);
    await page
      .locator(".virtual-rows .row")
      .nth(changed - 1)
      .waitFor();
    const scale = async (name: string, count: number): Promise<void> => {
      const response = await fetch(`http://127.0.0.1:${full.port}/system/scale-function/${name}`, {
        method: "POST",
        headers: { authorization: full.functions.authorization },
        body: JSON.stringify({ replicas: count }),
      });
      if (!response.ok) throw new Error(`Cannot scale ${name}: ${await response.text()}`);
      await response.body?.cancel();
    };
    let count: number = counts.from;
    return async () => {
      const lags: number[] = [];
      for (let wave = 0; wave < waves; wave += 1) {
        count = count + 1 < counts.below ? count + 1 : counts.from;
        lags.push(...(await changeAll(count, scale, replicas)));
      }
      const sorted = lags.toSorted((a, b) => a - b);
      const [median, p99] = [quantile(sorted, 0.5), quantile(sorted, 0.99)];
      say(`  ${sorted.length} changes: half of them after ${median} ms, p99 ${p99} ms`);
      return p99;
    };
  },
});

/** Changes each function once, spread over a second; resolves with the milliseconds that each change took. */
function changeAll(
  count: number,
  scale: (name: string, count: number) => Promise<void>,
  replicas: SeenReplicas,
): Promise<readonly number[]> {
  return Promise.all(
    Array.from({ length: changed }, async (_, index) => {
      const name = manyName(first + index);
      replicas.forget(name, count);
      await pause(((index + Math.random()) * tick) / changed);
      const sent = Date.now();
      await scale(name, count);
      return (await replicas.seenAt(name, count)) - sent;
    }),
  );
}
