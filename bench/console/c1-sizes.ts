import { fileURLToPath } from "node:url";

import { makeConsoleFiles, type ConsoleSizes } from "../../scripts/console/make-console-files.ts";
import type { BenchRow } from "../bench-row.ts";
import { consoleRow } from "./console-row.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));

/** C1: what a browser has to load, as a build of the sources compresses it. */
export const c1Sizes: readonly BenchRow[] = [
  row("JavaScript of the first page", "firstScripts", 70),
  row("JavaScript in all", "scripts", 120),
  row("sheet", "sheetGzip", 8),
];

function row(what: string, size: keyof ConsoleSizes, bar: number): BenchRow {
  return consoleRow({
    id: "C1",
    what: `console: ${what}, gzip`,
    unit: "kB",
    bar,
    open: async () => {
      // Each build of the same sources has the same sizes.
      const { sizes } = await makeConsoleFiles(root);
      return async () => sizes[size] / 1_000;
    },
  });
}
