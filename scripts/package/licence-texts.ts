import { readFile, readdir } from "node:fs/promises";
import { join } from "node:path";

import { aboutPackage } from "../images/bundle-sources.ts";

/** The file of a package with the licences of what is bundled in it. */
export const thirdPartyFile = "THIRD-PARTY.txt";

/** Names, versions and licence texts of npm packages, given by their directories. */
export async function licenceTexts(directories: readonly string[]): Promise<string> {
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
