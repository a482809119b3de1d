import { execFile, execFileSync } from "node:child_process";
import { readFile, readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";

import { afterAll, beforeAll, expect, test } from "vitest";

import { release } from "../../runtime/api/version.ts";
import { commandTree } from "../../runtime/cli/command-tree.ts";
import { templateNames, templatePaths } from "../../runtime/cli/project/template-files.ts";
import { makeCliPackage } from "../../scripts/package/make-cli-package.ts";
import type { PackedDirectory } from "../../scripts/package/pack-directory.ts";
import { tempDirectory, type TempDirectory } from "../support/temp-directory.ts";

/** The packed command `weir`, unpacked in an empty directory: no node_modules, no sources beside it. */
let place: TempDirectory;
let made: PackedDirectory;
let program: string;
const root = join(import.meta.dirname, "..", "..");

beforeAll(async () => {
  place = await tempDirectory("cli-package");
  made = await makeCliPackage(root, place.path);
  execFileSync("tar", ["-xzf", join(place.path, made.filename), "--directory", place.path]);
  program = join(place.path, "package", "weir.js");
});
afterAll(() => place?.remove());

const weir = async (...args: readonly string[]): Promise<string> => {
  const env = { HOME: place.path, PATH: "/usr/bin:/bin" };
  const { stdout } = await promisify(execFile)(process.execPath, [program, ...args], { cwd: place.path, env });
  return stdout;
};

test("is one file of at most 1.5 MB, with the licences of what is in it, and needs no package", async () => {
  expect(made.files.map(({ path }) => path)).toEqual([
    "LICENSE",
    "README.md",
    "THIRD-PARTY.txt",
    "package.json",
    "weir.js",
  ]);
  expect((await stat(program)).size).toBeLessThanOrEqual(1_500_000);
  const manifest = JSON.parse(await readFile(join(place.path, "package", "package.json"), "utf8")) as object;
  expect(manifest).toMatchObject({ name: "weir-cli", version: release, bin: { weir: "weir.js" } });
  for (const field of ["dependencies", "scripts", "optionalDependencies", "peerDependencies"])
    expect(manifest).not.toHaveProperty(field);
  const licences = await readFile(join(place.path, "package", "THIRD-PARTY.txt"), "utf8");
  for (const name of ["commander", "undici", "yaml", "@clack/prompts"])
    expect(licences).toMatch(new RegExp(`^${name} \\d+\\.\\d+\\.\\d+, (?:MIT|ISC)$`, "m"));
});

test("the same content makes the same bytes", async () => {
  await using again = await tempDirectory("cli-package-again");
  expect((await makeCliPackage(root, again.path)).integrity).toBe(made.integrity);
});

test("tells its version, and helps with every command", async () => {
  expect(await weir("--version")).toBe(`${release}\n`);
  const help = await weir("--help");
  for (const { name } of commandTree) expect(help).toMatch(new RegExp(`^ {2}${name}\\b`, "m"));
});

test.each(templateNames)("has the files of template %s", async (template) => {
  await weir("init", template, "--template", template);
  const directory = join(place.path, template);
  expect((await readdir(directory)).toSorted()).toEqual(templatePaths(template).toSorted());
  const text = await readFile(join(directory, "weir.yaml"), "utf8");
  expect(text).toMatch(new RegExp(`^ {2}${template}:`, "m"));
});
