import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { cp, mkdir, readFile, symlink, utimes, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";

import { expect, test } from "vitest";

import { makePackage } from "../../scripts/package/make-package.ts";
import { tempDirectory } from "../support/temp-directory.ts";

const root = join(import.meta.dirname, "..", "..");

/** A copy of the project: the same files, written at another time. */
async function copyTo(directory: string, writtenAt: Date): Promise<void> {
  const listed = execFileSync("git", ["ls-files", "--cached", "--others", "--exclude-standard"], { cwd: root });
  for (const file of listed.toString().split("\n").filter(Boolean)) {
    // Git lists those that were removed, but not from its index.
    if (!existsSync(join(root, file))) continue;
    const copy = join(directory, file);
    await mkdir(dirname(copy), { recursive: true });
    await cp(join(root, file), copy);
    await utimes(copy, writtenAt, writtenAt);
  }
  await symlink(join(root, "node_modules"), join(directory, "node_modules"));
}

test("the same content gives the same package and the same software list", async () => {
  await using packages = await tempDirectory("package");
  const made = await makePackage(root, packages.path);
  await using directory = await tempDirectory("package-again");
  const source = join(directory.path, "source");
  await copyTo(source, new Date(2031, 7, 7));
  // What a machine built is no content of the sources.
  await mkdir(join(source, "runtime/console/dist"), { recursive: true });
  await writeFile(join(source, "runtime/console/dist/built.js"), "");
  const again = await makePackage(source, directory.path);
  expect(again.integrity).toBe(made.integrity);
  expect((await readFile(again.tarball)).equals(await readFile(made.tarball))).toBe(true);
  expect(await readFile(again.softwareList, "utf8")).toBe(await readFile(made.softwareList, "utf8"));
});
