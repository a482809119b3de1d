import { execFile } from "node:child_process";
import { chmod, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";

import { afterAll, beforeAll, expect, inject, test } from "vitest";

import { environment } from "../../runtime/process/settings.ts";
import { makeCliPackage } from "../../scripts/package/make-cli-package.ts";
import {
  executableTargets,
  makeExecutable,
  ownTarget,
  type ExecutableTarget,
} from "../../scripts/package/make-executable.ts";
import { engineVariable } from "../support/docker-engine-setup.ts";
import { tempDirectory, type TempDirectory } from "../support/temp-directory.ts";

/** The tests of the command line with the packed command: on the oldest Node.js that it supports, and as one file. */
const root = join(import.meta.dirname, "..", "..");
/** As `engines` of the package says; its npm package has the program. */
const oldestNode = "22.19.0";
const run = promisify(execFile);

let place: TempDirectory;
beforeAll(async () => {
  place = await tempDirectory("packed-command");
});
afterAll(() => place?.remove());

test(`on Node.js ${oldestNode}`, async () => {
  const { filename } = await makeCliPackage(root, place.path);
  await run("tar", ["-xzf", filename], { cwd: place.path });
  const node = `node-${process.platform}-${process.arch}`;
  await run("npm", ["install", "--no-audit", "--no-fund", "--prefix", place.path, `${node}@${oldestNode}`]);
  const program = join(place.path, "weir");
  const files = [join(place.path, "node_modules", node, "bin", "node"), join(place.path, "package", "weir.js")];
  await writeFile(program, `#!/bin/sh\nexec ${files.map((file) => `'${file}'`).join(" ")} "$@"\n`);
  await chmod(program, 0o755);
  await expectSuite(program);
});

test("as one executable file", async () => {
  const target = ownTarget();
  if (target === undefined) throw new Error("there is no executable for this system");
  await expectSuite(await makeExecutable(root, place.path, target));
});

/** What the file of a system begins with: an ELF header with its machine (System V ABI), or that of Mach-O. */
const formats: Readonly<Record<ExecutableTarget, (head: Buffer) => boolean>> = {
  "linux-x64": (head) => head.readUInt32BE(0) === 0x7f454c46 && head.readUInt16LE(18) === 62,
  "linux-arm64": (head) => head.readUInt32BE(0) === 0x7f454c46 && head.readUInt16LE(18) === 183,
  "darwin-arm64": (head) => head.readUInt32LE(0) === 0xfeedfacf && head.readUInt32LE(4) === 0x0100000c,
};

test.each(executableTargets)("as an executable for %s has its format, and the command in it", async (target) => {
  const bytes = await readFile(await makeExecutable(root, place.path, target));
  expect(formats[target](bytes.subarray(0, 64))).toBe(true);
  expect(bytes.includes("Deploys functions to a Weir gateway")).toBe(true);
});

/** Runs the tests of `test/e2e/cli` with this program. */
async function expectSuite(program: string): Promise<void> {
  const env = {
    ...environment(),
    WEIR_TEST_CLI: program,
    [engineVariable]: inject("dockerEngine").slice(1),
    VITEST: undefined,
    VITEST_WORKER_ID: undefined,
  };
  const file = join(place.path, "report.json");
  await rm(file, { force: true });
  const args = ["run", "--project", "e2e", "--reporter", "json", "--outputFile", file, "test/e2e/cli/"];
  // It ends with 1 when a test failed, which the report names.
  const ended = await run(join(root, "node_modules", ".bin", "vitest"), args, {
    cwd: root,
    env,
    maxBuffer: 2 ** 26,
  }).catch((err: unknown) => err as { readonly stdout: string; readonly stderr: string });
  const text = await readFile(file, "utf8").catch(() => undefined);
  if (text === undefined) throw new Error(`The tests wrote no report: ${ended.stdout}${ended.stderr}`);
  const report = JSON.parse(text) as Report;
  const failed = report.testResults
    .flatMap(({ assertionResults }) => assertionResults)
    .filter(({ status }) => status === "failed");
  expect(failed.map(({ fullName, failureMessages }) => `${fullName}: ${failureMessages.join("\n")}`)).toEqual([]);
  expect(report.numPassedTests).toBeGreaterThan(50);
  expect(report.success).toBe(true);
}

/** The JSON report of vitest, as far as it is read here. */
interface Report {
  readonly success: boolean;
  readonly numPassedTests: number;
  readonly testResults: readonly {
    readonly assertionResults: readonly {
      readonly fullName: string;
      readonly status: string;
      readonly failureMessages: readonly string[];
    }[];
  }[];
}
