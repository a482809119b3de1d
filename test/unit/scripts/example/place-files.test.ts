import { chmod, mkdir, readFile, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { afterEach, beforeEach, describe, expect, test } from "vitest";

import { placeFiles } from "../../../../scripts/example/place-files.ts";
import { tempDirectory, type TempDirectory } from "../../../support/temp-directory.ts";

describe("placeFiles", () => {
  let root: TempDirectory;
  let within: TempDirectory;
  let source: string;
  let dependency: string;

  beforeEach(async () => {
    root = await tempDirectory("example");
    within = await tempDirectory("within");
    await chmod(within.path, 0o755);
    source = join(root.path, "examples/page");
    dependency = join(root.path, "node_modules/@scope/words");
    for (const directory of [source, dependency]) await mkdir(directory, { recursive: true });
    await writeFile(join(source, "function.ts"), "first");
    await writeFile(join(dependency, "package.json"), "{}");
  });
  afterEach(async () => {
    await root.remove();
    await within.remove();
  });

  const place = () => placeFiles({ name: "page", directory: source, packages: [dependency], within: within.path });

  test("uses the files in place if all users can read them", async () => {
    await chmod(root.path, 0o711);
    expect(await place()).toEqual({ directory: source, copied: false });

    await chmod(join(dependency, "package.json"), 0o600);
    expect((await place()).copied).toBe(true);
  });

  test("copies them with their packages to where all users can read them", async () => {
    await chmod(join(source, "function.ts"), 0o600);
    const { directory, copied } = await place();
    expect(copied).toBe(true);
    expect(directory).toBe(join(within.path, `weir-example-${process.getuid?.() ?? 0}-page`));
    expect(await readFile(join(directory, "function.ts"), "utf8")).toBe("first");
    for (const file of ["function.ts", "node_modules/@scope/words/package.json"]) {
      expect((await stat(join(directory, file))).mode & 0o777).toBe(0o644);
    }
    for (const path of ["", "node_modules", "node_modules/@scope/words"]) {
      expect((await stat(join(directory, path))).mode & 0o777).toBe(0o755);
    }
  });

  test("copies changes at the next run", async () => {
    const { directory } = await place();
    await writeFile(join(source, "function.ts"), "second");
    await place();
    expect(await readFile(join(directory, "function.ts"), "utf8")).toBe("second");
  });

  test("refuses a directory that others could have prepared, or cannot enter", async () => {
    const target = join(within.path, `weir-example-${process.getuid?.() ?? 0}-page`);
    await symlink(root.path, target);
    await expect(place()).rejects.toThrow(`Cannot use "${target}"`);

    await chmod(within.path, 0o700);
    await expect(place()).rejects.toThrow('Cannot place the files of example "page"');
  });
});
