import { watch } from "node:fs/promises";
import { fileURLToPath } from "node:url";

import { makeConsoleFiles } from "./make-console-files.ts";
import { sizeRows, tooLarge } from "./size-limits.ts";
import { writeConsole } from "./write-console.ts";

/**
 * Builds the console into runtime/console/dist; exits with 1 when it is too large. With `--watch` it builds again
 * after each change, until it is stopped.
 */
const root = fileURLToPath(new URL("../../", import.meta.url));
const sources = `${root}runtime/console`;
const directory = `${sources}/dist`;

async function build(): Promise<boolean> {
  const begin = performance.now();
  const made = await makeConsoleFiles(root);
  await writeConsole(made, directory);
  console.error(`The console is built in ${Math.round(performance.now() - begin)} ms`);
  for (const { what, size, most } of sizeRows(made.sizes)) console.error(`  ${what}: ${size} of ${most} bytes`);
  const problems = tooLarge(made.sizes);
  for (const problem of problems) console.error(problem);
  return problems.length === 0;
}

if (process.argv.includes("--watch")) {
  const say = (err: unknown): void => console.error(err instanceof Error ? err.message : err);
  await build().catch(say);
  for await (const { filename } of watch(sources, { recursive: true, maxQueue: 1, overflow: "ignore" }))
    if (filename?.startsWith("dist") !== true) await build().catch(say);
} else if (!(await build())) {
  process.exitCode = 1;
}
