import { mkdir } from "node:fs/promises";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

import { Command } from "commander";

import { makeCliPackage } from "./make-cli-package.ts";
import { makeExecutable } from "./make-executable.ts";
import { makePackage } from "./make-package.ts";
import { makePlatformPackage } from "./make-platform-package.ts";

interface PackageOptions {
  readonly to: string;
  readonly executable: boolean;
}

const command = new Command("npm run package --")
  .description(
    "Makes the npm packages: weir for Pulumi programs, with its software bill of materials (CycloneDX), weir-cli with the command weir, weir-platform with Weir on one machine. The same content makes the same bytes.",
  )
  .option("--to <directory>", "where they go", ".")
  .option("--executable", "also the command as one file for this system, which needs no Node.js", false)
  .helpOption("--help", "show this")
  .action(async ({ to, executable }: PackageOptions) => {
    const directory = resolve(to);
    await mkdir(directory, { recursive: true });
    const root = fileURLToPath(new URL("../../", import.meta.url));
    const { tarball, softwareList, integrity } = await makePackage(root, directory);
    console.log(`${tarball} ${integrity}\n${softwareList}`);
    for (const make of [makeCliPackage, makePlatformPackage]) {
      const packed = await make(root, directory);
      console.log(`${join(directory, packed.filename)} ${packed.integrity}`);
    }
    if (executable) console.log(await makeExecutable(root, directory));
  });

try {
  await command.parseAsync();
} catch (err) {
  console.error(err instanceof Error ? err.message : String(err));
  process.exitCode = 1;
}
