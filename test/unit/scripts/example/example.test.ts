import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { describe, expect, test } from "vitest";

import { baseImageName, pythonBaseImageName } from "../../../../runtime/api/version.ts";
import { exampleNames, filled, readExample } from "../../../../scripts/example/example.ts";
import { tempDirectory } from "../../../support/temp-directory.ts";

const repository = fileURLToPath(new URL("../../../..", import.meta.url));
const examples = join(repository, "examples");

describe.each(await exampleNames(examples))("example %s", (name) => {
  test("imports packages in the installed versions", async () => {
    const { directory, packages } = await readExample(examples, name);
    const own = packages.length === 0 ? {} : await readJson(join(directory, "package.json"));
    const { dependencies, devDependencies } = await readJson(join(repository, "package.json"));
    expect({ ...dependencies, ...devDependencies }).toMatchObject(own.dependencies ?? {});
  });

  test("has a Dockerfile with this release's base image that runs the deployment's process", async () => {
    const { directory, deployment } = await readExample(examples, name);
    const dockerfile = await readFile(join(directory, "Dockerfile"), "utf8");
    const base = deployment.envProcess.startsWith("python3 ") ? pythonBaseImageName : baseImageName;
    for (const argument of ["BASE", "WATCHDOG"]) expect(dockerfile).toContain(`\nARG ${argument}=${base}\n`);
    const process = filled(deployment.envProcess, { directory: "/home/app" }).replaceAll('"', "");
    expect(dockerfile.replaceAll('"', "")).toContain(`fprocess=${process}\n`);
  });
});

test("texts are filled in at any depth, with known values", () => {
  const filledIn = filled({ a: ["{x}/{y}", { b: "{x}{x}" }], n: 1 }, { x: 'quote " and \\' });
  expect(filledIn).toEqual({ a: ['quote " and \\/{y}', { b: 'quote " and \\quote " and \\' }], n: 1 });
});

test("an example that breaks a rule is refused with a message", async () => {
  await using root = await tempDirectory("examples");
  await mkdir(join(root.path, "broken"));
  await writeFile(
    join(root.path, "broken", "example.json"),
    '{ "about": 1, "calls": [], "deployment": { "service": "A" } }',
  );

  expect(await exampleNames(root.path)).toEqual(["broken"]);
  await expect(readExample(root.path, "broken")).rejects.toThrow(
    /^Cannot read example "broken": .*\/about must be string/,
  );
  await expect(readExample(root.path, "none")).rejects.toThrow('Cannot find example "none": there are broken');
});

interface PackageFile {
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
}

async function readJson(file: string): Promise<PackageFile> {
  return JSON.parse(await readFile(file, "utf8"));
}
