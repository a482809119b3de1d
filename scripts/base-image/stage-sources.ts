import { cp, mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join, relative, resolve } from "node:path";

const fromStatement = /^(?:import|export)\s[^;]*?from\s+"([^"]+)";/gms;

/**
 * Puts `entry` and every file it needs, the npm packages too, below `target` as they lie in the repository `root`.
 * (Node.js refuses to strip types below `node_modules`: packages must be plain JavaScript.)
 */
export async function stageSources(root: string, entry: string, target: string): Promise<void> {
  const files = new Set<string>();
  const packages = new Set<string>();
  await follow(join(root, entry), files, packages);
  for (const file of files) {
    const to = join(target, relative(root, file));
    await mkdir(dirname(to), { recursive: true });
    await cp(file, to);
  }
  for (const name of packages) await stagePackage(root, name, target);
  await writeFile(join(target, "package.json"), '{ "type": "module" }\n');
}

async function follow(file: string, files: Set<string>, packages: Set<string>): Promise<void> {
  if (files.has(file)) return;
  files.add(file);
  for (const [, name = ""] of (await readFile(file, "utf8")).matchAll(fromStatement)) {
    if (name.startsWith(".")) await follow(resolve(dirname(file), name), files, packages);
    else if (!name.startsWith("node:")) packages.add(name);
  }
}

async function stagePackage(root: string, name: string, target: string): Promise<void> {
  const from = join(root, "node_modules", name);
  await cp(from, join(target, "node_modules", name), { recursive: true, dereference: true });
  const { dependencies = {} } = JSON.parse(await readFile(join(from, "package.json"), "utf8")) as {
    dependencies?: Record<string, string>;
  };
  for (const needed of Object.keys(dependencies)) await stagePackage(root, needed, target);
}
