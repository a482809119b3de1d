import { mkdir } from "node:fs/promises";
import { resolve } from "node:path";
import { fileURLToPath } from "node:url";

import { Command } from "commander";

import { makePackage } from "./make-package.ts";

const command = new Command("npm run package --")
  .description(
    "Makes the npm package and its software bill of materials (CycloneDX). The same content makes the same bytes.",
  )
  .option("--to <directory>", "where they go", ".")
  .helpOption("--help", "show this")
  .action(async ({ to }: { readonly to: string }) => {
    const directory = resolve(to);
    await mkdir(directory, { recursive: true });
    const root = fileURLToPath(new URL("../../", import.meta.url));
    const { tarball, softwareList, integrity } = await makePackage(root, directory);
    console.log(`${tarball} ${integrity}\n${softwareList}`);
  });

try {
  await command.parseAsync();
} catch (err) {
  console.error(err instanceof Error ? err.message : String(err));
  process.exitCode = 1;
}
