import { cp, mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join, relative, resolve } from "node:path";

const fromStatement = /^(?:import|export)\s[^;]*?from\s+"([^"]+)";/gms;
/** What packages bring for those who read, test or type-check them. */
const notNeeded = [
  /^(?:tests?|docs?|benchmarks?|examples?|integration|\.[^/]+)(?:\/|$)/,
  /\.(?:d\.[cm]?ts|map)$/,
  /(?:^|\/)(?:readme|changelog|history|contributing|security)\.md$/i,
];

/**
 * Puts `entries` and every file they need, the npm packages too, below `target` as they lie in the repository `root`.
 * (Node.js refuses to strip types below `node_modules`: packages must be plain JavaScript.)
 */
export async function stageSources(root: string, entries: readonly string[], target: string): Promise<void> {
  const files = new Set<string>();
  const packages = new Set<string>();
  for (const entry of entries) await follow(join(root, entry), files, packages);
  for (const file of files) {
    const to = join(target, relative(root, file));
    await mkdir(dirname(to), { recursive: true });
    await cp(file, to);
  }
  const staged = new Set<string>();
  for (const name of packages) await stagePackage(root, name, target, staged);
  await writeFile(join(target, "package.json"), '{ "type": "module" }\n');
}

async function follow(file: string, files: Set<string>, packages: Set<string>): Promise<void> {
  if (files.has(file)) return;
  files.add(file);
  for (const [, name = ""] of (await readFile(file, "utf8")).matchAll(fromStatement)) {
    if (name.startsWith(".")) await follow(resolve(dirname(file), name), files, packages);
    else if (!name.startsWith("node:")) packages.add(packageOf(name));
  }
}

/** `@scope/name` of `@scope/name/part`. */
function packageOf(name: string): string {
  return name.split("/", name.startsWith("@") ? 2 : 1).join("/");
}

async function stagePackage(root: string, name: string, target: string, staged: Set<string>): Promise<void> {
  if (staged.has(name)) return;
  staged.add(name);
  const from = join(root, "node_modules", name);
  await cp(from, join(target, "node_modules", name), {
    recursive: true,
    dereference: true,
    filter: (source) => !notNeeded.some((pattern) => pattern.test(relative(from, source))),
  });
  const { dependencies = {} } = JSON.parse(await readFile(join(from, "package.json"), "utf8")) as {
    dependencies?: Record<string, string>;
  };
  for (const needed of Object.keys(dependencies)) await stagePackage(root, needed, target, staged);
}
