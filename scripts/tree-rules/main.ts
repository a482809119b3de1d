import { glob, readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";

import { doubleExports } from "./double-exports.ts";
import { fullFolders } from "./full-folders.ts";
import { standIns, type ImportMap } from "./stand-ins.ts";

/** Says what the linter cannot see of one file: names that two export, and folders that hold too much. Ends with 1 then. */
const root = fileURLToPath(new URL("../../", import.meta.url));
const paths = await Array.fromAsync(glob("{runtime,infra}/**/*.ts", { cwd: root }));
const { imports } = JSON.parse(await readFile(`${root}package.json`, "utf8")) as { readonly imports: ImportMap };
const twins = standIns(imports);
const sources = await Promise.all(
  paths
    .filter((path) => !twins.has(path))
    .map(async (path) => ({ path, text: await readFile(`${root}${path}`, "utf8") })),
);
const problems = [...fullFolders(paths), ...doubleExports(sources)];
for (const problem of problems) console.error(problem);
process.exitCode = problems.length === 0 ? 0 : 1;
