import { cp, mkdir, readdir, writeFile } from "node:fs/promises";
import { join, relative, sep } from "node:path";

import { rolldown } from "rolldown";

import { keptPlaces } from "./kept-places.ts";
import { plainBuiltins } from "./plain-builtins.ts";

/** Files with a package's description and licences. */
export const aboutPackage = /^(?:package\.json|(?:licen[cs]e|notice|copying)(?:[.-].*)?)$/i;

/** Faster, and native: `pg` takes it only if it is asked to. */
const absent = ["pg-native"];

/**
 * Bundles each of `entries` (`runtime/<name>/main.ts` in the repository `root`) to `runtime/<name>/main.js` below
 * `target`, with everything it needs, npm packages included; shared code is in separate files. Finding and reading
 * hundreds of modules takes most of a start, and a third of the memory. `node_modules` keeps only descriptions and
 * licences. `conditions` choose among the modules of an import map, as `node --conditions` does.
 */
export async function bundleSources(
  root: string,
  entries: readonly string[],
  target: string,
  conditions: readonly string[] = [],
): Promise<void> {
  const bundle = await rolldown({
    cwd: root,
    input: Object.fromEntries(entries.map((entry) => [entry.replace(/\.ts$/, ""), entry])),
    platform: "node",
    external: absent,
    // Those of `--conditions`, before Node's own.
    ...(conditions.length > 0 && { resolve: { conditionNames: [...conditions, "node"] } }),
    plugins: [plainBuiltins, keptPlaces(root)],
  });
  const { output } = await bundle.write({
    dir: target,
    format: "esm",
    entryFileNames: "[name].js",
    chunkFileNames: "runtime/shared/[hash].js",
    comments: false,
  });
  await bundle.close();
  const modules = output.flatMap((file) => (file.type === "chunk" ? file.moduleIds : []));
  await copyDescriptions(root, new Set(modules.flatMap(packageOf)), target);
  await writeFile(join(target, "package.json"), '{ "type": "module" }\n');
}

/** Directory of the package that a module belongs to; none for our own. */
export function packageOf(module: string): string[] {
  const [, found] = /^(.*\/node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(module.replaceAll(sep, "/")) ?? [];
  return found === undefined ? [] : [found];
}

/** Copies the descriptions and licences of packages, given by their directories in `root`, to the same place in `target`. */
export async function copyDescriptions(root: string, packages: Iterable<string>, target: string): Promise<void> {
  for (const from of packages) {
    const to = join(target, relative(root, from));
    await mkdir(to, { recursive: true });
    for (const name of await readdir(from)) {
      if (aboutPackage.test(name)) await cp(join(from, name), join(to, name));
    }
  }
}
