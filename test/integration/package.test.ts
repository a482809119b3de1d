import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { cp, mkdir, readdir, readFile, rename, symlink, utimes, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";

import { afterAll, beforeAll, expect, test } from "vitest";

import { makePackage, type MadePackage } from "../../scripts/package/make-package.ts";
import { tempDirectory, type TempDirectory } from "../support/temp-directory.ts";

const root = join(import.meta.dirname, "..", "..");
const long = 180_000;

let packages: TempDirectory;
let made: MadePackage;

beforeAll(async () => {
  packages = await tempDirectory("package");
  made = await makePackage(root, packages.path);
}, long);
afterAll(() => packages?.remove());

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

/** The program of a user who has the package and Pulumi installed. */
const program = `
import * as pulumi from "@pulumi/pulumi";
import { Function, FunctionSecret, type FunctionArgs } from "weir/infra";

const made: string[] = [];
await pulumi.runtime.setMocks({
  call: () => ({}),
  newResource: ({ type, name, inputs }) => {
    made.push(type);
    return { id: name, state: inputs as Record<string, unknown> };
  },
});
const args: FunctionArgs = { image: "echo:1", secrets: [new FunctionSecret("key", { files: { key: "of a test" } }).secretName] };
const { path } = new Function("echo", args);
const shown = await new Promise((resolve) => path.apply(resolve));
console.log(JSON.stringify([shown, made.toSorted()]));
`;

test("a program with the package installed compiles, and creates functions", { timeout: long }, async () => {
  await using directory = await tempDirectory("installed");
  const place = (...names: readonly string[]): string => join(directory.path, ...names);
  const { tarball } = made;
  await mkdir(place("node_modules"));
  execFileSync("tar", ["-xzf", tarball, "--directory", directory.path]);
  await rename(place("package"), place("node_modules/weir"));
  for (const each of await readdir(join(root, "node_modules"))) {
    if (!each.startsWith(".")) await symlink(join(root, "node_modules", each), place("node_modules", each));
  }
  await writeFile(place("package.json"), JSON.stringify({ type: "module" }));
  await writeFile(place("index.ts"), program);
  const options = { target: "esnext", module: "nodenext", types: ["node"], strict: true, noEmit: true };
  await writeFile(place("tsconfig.json"), JSON.stringify({ compilerOptions: options, files: ["index.ts"] }));

  execFileSync(join(root, "node_modules/.bin/tsc"), { cwd: directory.path, encoding: "utf8" });
  const shown = execFileSync(process.execPath, ["index.ts"], { cwd: directory.path, encoding: "utf8" });
  expect(JSON.parse(shown)).toEqual([
    "/function/echo.functions",
    expect.arrayContaining(["kubernetes:core/v1:Secret", "kubernetes:service.com/v1:Function"]),
  ]);
});

test("the same content gives the same package and the same software list", { timeout: long }, async () => {
  await using directory = await tempDirectory("package-again");
  const source = join(directory.path, "source");
  await copyTo(source, new Date(2031, 7, 7));
  // What a machine built is no content of the sources.
  await mkdir(join(source, "runtime/console/dist"), { recursive: true });
  await writeFile(join(source, "runtime/console/dist/built.js"), "");
  const again = await makePackage(source, directory.path);
  expect(again.integrity).toBe(made.integrity);
  expect((await readFile(again.tarball)).equals(await readFile(made.tarball))).toBe(true);
  const parts = await readFile(made.softwareList, "utf8");
  expect(await readFile(again.softwareList, "utf8")).toBe(parts);

  expect(made.files).toEqual(
    expect.arrayContaining(["README.md", "LICENSE", "runtime/host/main.ts", "infra/manifests/processes/gateway.ts"]),
  );
  expect(made.files.filter((file) => /^test\/|^\.|node_modules|console\/dist\/|\.log$/.test(file))).toEqual([]);
  const { components } = JSON.parse(parts) as {
    readonly components: readonly { readonly name: string }[];
  };
  const names = components.map(({ name }) => name);
  const { dependencies } = JSON.parse(await readFile(join(root, "package.json"), "utf8")) as {
    readonly dependencies: Readonly<Record<string, string>>;
  };
  expect(names).toEqual(expect.arrayContaining(Object.keys(dependencies)));
  expect(names.filter((name) => ["vitest", "typescript", "oxlint", "@pulumi/pulumi"].includes(name))).toEqual([]);
});
