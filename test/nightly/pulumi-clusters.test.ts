import { execFile } from "node:child_process";
import { cp, mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";

import { afterAll, beforeAll, expect, test } from "vitest";

import { makePackage, type MadePackage } from "../../scripts/package/make-package.ts";
import { tempDirectory, type TempDirectory } from "../support/temp-directory.ts";

/** Milliseconds; the SDKs of clouds are hundreds of megabytes. */
const installing = 900_000;
const root = join(import.meta.dirname, "..", "..");

let packages: TempDirectory;
let made: MadePackage;

beforeAll(async () => {
  packages = await tempDirectory("package");
  made = await makePackage(root, packages.path);
}, installing);
afterAll(() => packages?.remove());

test.each(["eks", "gke"])(
  "the program with a cluster of %s compiles with the package and the SDKs that it names",
  async (cloud) => {
    await using directory = await tempDirectory(`pulumi-${cloud}`);
    const place = join(directory.path, "example");
    await mkdir(place);
    await cp(join(root, "examples", `pulumi-${cloud}`), place, { recursive: true });
    const file = join(place, "package.json");
    const manifest = JSON.parse(await readFile(file, "utf8")) as { readonly dependencies: Record<string, string> };
    expect(manifest.dependencies["weir"]).toMatch(/^file:.*\.tgz$/);
    manifest.dependencies["weir"] = `file:${made.tarball}`;
    await writeFile(file, JSON.stringify(manifest));
    const run = promisify(execFile);
    await run("npm", ["install", "--ignore-scripts", "--no-audit", "--no-fund"], { cwd: place, maxBuffer: 2 ** 26 });
    const compiler = await run(join(place, "node_modules", ".bin", "tsc"), ["-p", "."], { cwd: place }).catch(
      (err: unknown) => err as { readonly stdout: string },
    );
    expect(compiler.stdout).toBe("");
  },
  installing,
);
