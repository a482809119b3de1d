import { glob, readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";

import { doubleExports } from "./double-exports.ts";
import { fullFolders } from "./full-folders.ts";
import { standIns, type ImportMap } from "./stand-ins.ts";

/**
 * Reports what a linter of single files cannot see: names exported twice, and folders with too many files; then exits
 * with 1.
 */
const root = fileURLToPath(new URL("../../", import.meta.url));
const paths = await Array.fromAsync(glob("{runtime,infra}/**/*.{ts,tsx}", { cwd: root }));
const { imports } = JSON.parse(await readFile(`${root}package.json`, "utf8")) as { readonly imports: ImportMap };
const replacements = standIns(imports);
const sources = await Promise.all(
  paths
    .filter((path) => !replacements.has(path))
    .map(async (path) => ({ path, text: await readFile(`${root}${path}`, "utf8") })),
);
const problems = [...fullFolders(paths), ...doubleExports(sources)];
for (const problem of problems) console.error(problem);
process.exitCode = problems.length === 0 ? 0 : 1;
