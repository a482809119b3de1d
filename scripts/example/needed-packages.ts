import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";

/**
 * The directories of the npm packages `names` and of all that they depend on, below `root`, a `node_modules`; those
 * that are inside of another one are not listed.
 */
export async function neededPackages(names: readonly string[], root: string): Promise<string[]> {
  const found = new Set<string>();
  const visit = async (name: string, inside: string | undefined): Promise<void> => {
    const nested = inside === undefined ? undefined : join(inside, "node_modules", name);
    const isNested = nested !== undefined && existsSync(nested);
    const directory = isNested ? nested : join(root, name);
    if (found.has(directory)) return;
    found.add(directory);
    for (const each of await dependenciesOf(directory)) await visit(each, directory);
  };
  for (const name of names) await visit(name, undefined);
  return [...found].filter((directory) => !directory.slice(root.length).includes("/node_modules/")).toSorted();
}

async function dependenciesOf(directory: string): Promise<string[]> {
  const content = await readFile(join(directory, "package.json"), "utf8");
  return Object.keys((JSON.parse(content) as { dependencies?: object }).dependencies ?? {});
}
