import { mkdir } from "node:fs/promises";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

import { Command, Option } from "commander";

import { makeCliPackage } from "./make-cli-package.ts";
import { executableTargets, makeExecutable, ownTarget, type ExecutableTarget } from "./make-executable.ts";
import { makePackage } from "./make-package.ts";
import { makePlatformPackage } from "./make-platform-package.ts";

interface PackageOptions {
  readonly to: string;
  /** True without targets: for this system. */
  readonly executable?: true | readonly ExecutableTarget[];
}

const command = new Command("npm run package --")
  .description(
    "Makes the npm packages: weir for Pulumi programs, with its software bill of materials (CycloneDX), weir-cli with the command weir, weir-platform with Weir on one machine. The same content makes the same bytes.",
  )
  .option("--to <directory>", "where they go", ".")
  .addOption(
    new Option(
      "--executable [targets...]",
      "also the command as one file that needs no Node.js, for these systems; this one by default",
    ).choices(executableTargets),
  )
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
    for (const target of targetsOf(executable)) console.log(await makeExecutable(root, directory, target));
  });

function targetsOf(executable: PackageOptions["executable"]): readonly ExecutableTarget[] {
  if (executable !== true) return executable ?? [];
  const own = ownTarget();
  if (own === undefined) throw new Error(`Cannot make an executable for ${process.platform} ${process.arch}`);
  return [own];
}

try {
  await command.parseAsync();
} catch (err) {
  console.error(err instanceof Error ? err.message : String(err));
  process.exitCode = 1;
}
