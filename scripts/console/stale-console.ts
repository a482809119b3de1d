import { existsSync, globSync, statSync } from "node:fs";
import { join } from "node:path";

import { consoleList } from "./write-console.ts";

/** What the console is made of, beside the packages, which the lockfile stands for. */
const sources = [
  "runtime/console/**/*.{ts,tsx,css,svg,json}",
  "runtime/api/*.ts",
  "scripts/console/*.ts",
  "package-lock.json",
];

/** Whether the console was not built yet, or from other sources, as far as the times of files say. */
export function isConsoleStale(root: string): boolean {
  const list = join(root, "runtime/console/dist", consoleList);
  if (!existsSync(list)) return true;
  const built = statSync(list).mtimeMs;
  return globSync(sources, { cwd: root, exclude: ["runtime/console/dist/**"] }).some(
    (path) => statSync(join(root, path)).mtimeMs > built,
  );
}
