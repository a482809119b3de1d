import { setTimeout as pause } from "node:timers/promises";

import { openConsoleWeir } from "../../test/support/console/console-weir.ts";
import type { BenchRow } from "../bench-row.ts";
import { consoleRow } from "./console-row.ts";
import { openBenchBrowser, signInOnce } from "./signed-in.ts";
import { traceSmoothness, type Smoothness } from "./trace-page.ts";

/** Writes 1 000 lines a second, however late its timer is. */
const program = `
  require("node:http").createServer((q, r) => r.end("ok")).listen(process.env.PORT);
  const begun = Date.now();
  let line = 0;
  setInterval(() => {
    let text = "";
    for (const due = Date.now() - begun; line < due; line += 1)
      text += "\\u001b[32minfo\\u001b[0m order " + line + " was paid " + "x".repeat(60) + "\\n";
    process.stdout.write(text);
  }, 20);
`;
/** Milliseconds that are traced. */
const watched = 5_000;
const lastLine = 'document.querySelector(".log-lines")?.lastElementChild?.textContent ?? ""';

/** C4: the log of a function that writes 1 000 lines a second, followed. */
export const c4Logs: readonly BenchRow[] = [
  row("main thread ran a frame, p95", 8, ({ work }) => work),
  row("main thread ran a task, longest", 50, ({ longestTask }) => longestTask),
];

function row(what: string, bar: number, pick: (smoothness: Smoothness) => number): BenchRow {
  return consoleRow({
    id: "C4",
    what: `log at 1000 lines/s: ${what}`,
    unit: "ms",
    bar,
    open: async (opened) => {
      const browser = opened.use(await openBenchBrowser());
      const { origin, weir, deploy } = opened.use(await openConsoleWeir());
      await deploy({ service: "noisy", envProcess: `node -e '${program}'`, envVars: { mode: "http" } });
      const person = await signInOnce(browser, { origin, password: weir.password });
      const { page } = opened.use(await person.open());
      await page.goto("/ui/f/functions/noisy/logs");
      // More lines come than the stream tells of, which shows that there are as many.
      await page.getByText("came too fast").waitFor();
      return async () => {
        const before = await page.evaluate(lastLine);
        const smoothness = await traceSmoothness(page, "log", () => pause(watched));
        if ((await page.evaluate(lastLine)) === before) throw new Error("Cannot measure the log: it shows no new line");
        return pick(smoothness);
      };
    },
  });
}
