import { readFile, readdir } from "node:fs/promises";
import { join } from "node:path";

import { rolldown } from "rolldown";

import { aboutPackage, packageOf } from "../images/bundle-sources.ts";
import { plainBuiltins } from "../images/plain-builtins.ts";
import { embedTemplates } from "./embed-templates.ts";
import { slimUndici } from "./slim-undici.ts";

/** The command `weir` in one file. */
export interface CliBundle {
  readonly code: string;
  /** Names, versions and licence texts of the npm packages in it. */
  readonly thirdParty: string;
}

/** Newer syntax is written so that this version reads it; which newer functions are used, the tests on it show. */
const oldestNode = "node22.19";
const entry = "runtime/cli/main.ts";

/** Bundles the command with all packages that it uses into one JavaScript module, which imports nothing but Node's own. */
export async function bundleCli(root: string): Promise<CliBundle> {
  const bundle = await rolldown({
    cwd: root,
    input: entry,
    platform: "node",
    transform: { target: oldestNode },
    plugins: [plainBuiltins, slimUndici, embedTemplates(root)],
  });
  const { output } = await bundle.generate({ format: "esm", codeSplitting: false, minify: true, comments: false });
  await bundle.close();
  const [file, ...others] = output;
  if (others.length > 0) throw new Error(`Cannot bundle ${entry}: it became ${output.length} files`);
  const packages = new Set(file.moduleIds.flatMap(packageOf));
  return { code: file.code, thirdParty: await licenceTexts([...packages].toSorted()) };
}

async function licenceTexts(directories: readonly string[]): Promise<string> {
  const texts: string[] = [];
  for (const directory of directories) {
    const { name, version, license } = JSON.parse(await readFile(join(directory, "package.json"), "utf8")) as Readonly<
      Record<string, string>
    >;
    texts.push(`${name} ${version}, ${license}\n`);
    for (const file of (await readdir(directory)).toSorted())
      if (aboutPackage.test(file) && file !== "package.json")
        texts.push(`\n${(await readFile(join(directory, file), "utf8")).trim()}\n`);
    texts.push(`\n${"-".repeat(80)}\n\n`);
  }
  return texts.join("");
}
