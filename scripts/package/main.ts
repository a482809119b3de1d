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
    "Makes the npm packages: weir for Pulumi programs, with its software bill of materials (CycloneDX), one with the command weir, one with Weir on one machine; prints how each is installed. The same content makes the same bytes.",
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
    const commands: string[] = [];
    for (const make of [makeCliPackage, makePlatformPackage]) {
      const packed = await make(root, directory);
      const file = join(directory, packed.filename);
      console.log(`${file} ${packed.integrity}`);
      // By the file: whoever holds the name in the public registry is not known.
      commands.push(`npm install --global ${shellQuoted(file)}`);
    }
    for (const each of commands) console.log(each);
    for (const target of targetsOf(executable)) console.log(await makeExecutable(root, directory, target));
  });

function shellQuoted(path: string): string {
  return /^[-\w./@:+]+$/.test(path) ? path : `'${path.replaceAll("'", String.raw`'\''`)}'`;
}

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
