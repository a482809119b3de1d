import { execFileSync } from "node:child_process";
import { mkdir, readdir, readFile, rename, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";

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

test("has the sources and what describes them, and lists the software that it needs", async () => {
  expect(made.files).toEqual(
    expect.arrayContaining(["README.md", "LICENSE", "runtime/host/main.ts", "infra/manifests/processes/gateway.ts"]),
  );
  expect(made.files.filter((file) => /^test\/|^\.|node_modules|console\/dist\/|\.log$/.test(file))).toEqual([]);
  const { components } = JSON.parse(await readFile(made.softwareList, "utf8")) as {
    readonly components: readonly { readonly name: string }[];
  };
  const names = components.map(({ name }) => name);
  const { dependencies } = JSON.parse(await readFile(join(root, "package.json"), "utf8")) as {
    readonly dependencies: Readonly<Record<string, string>>;
  };
  expect(names).toEqual(expect.arrayContaining(Object.keys(dependencies)));
  expect(names.filter((name) => ["vitest", "typescript", "oxlint", "@pulumi/pulumi"].includes(name))).toEqual([]);
});
