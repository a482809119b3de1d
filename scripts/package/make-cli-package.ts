import { copyFile, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { bundleCli } from "./bundle-cli.ts";
import { thirdPartyFile } from "./licence-texts.ts";
import { packDirectory, type PackedDirectory } from "./pack-directory.ts";

const program = "weir.js";

/** Makes the package `weir-cli` in `directory`: one file that needs nothing but Node.js. */
export async function makeCliPackage(root: string, directory: string): Promise<PackedDirectory> {
  const place = await mkdtemp(join(tmpdir(), "weir-cli-package-"));
  try {
    const { code, thirdParty } = await bundleCli(root);
    const { version, license } = JSON.parse(await readFile(join(root, "package.json"), "utf8")) as Readonly<
      Record<string, string>
    >;
    const manifest = {
      name: "weir-cli",
      version,
      description: "The command weir: deploys functions to a Weir gateway, calls them, and shows what happens",
      license,
      type: "module",
      bin: { weir: program },
      files: [program, thirdPartyFile],
      engines: { node: ">=22.19" },
    };
    await writeFile(join(place, program), code, { mode: 0o755 });
    await writeFile(join(place, thirdPartyFile), thirdParty);
    await writeFile(join(place, "package.json"), `${JSON.stringify(manifest, undefined, 2)}\n`);
    await copyFile(join(root, "LICENSE"), join(place, "LICENSE"));
    await copyFile(join(import.meta.dirname, "cli-readme.md"), join(place, "README.md"));
    return await packDirectory(place, directory);
  } finally {
    await rm(place, { recursive: true });
  }
}
