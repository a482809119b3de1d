import { execFile } from "node:child_process";
import { chmod, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";

import { afterAll, beforeAll, expect, test } from "vitest";

import { environment } from "../../runtime/process/settings.ts";
import { makeCliPackage } from "../../scripts/package/make-cli-package.ts";
import { makeExecutable } from "../../scripts/package/make-executable.ts";
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
afterAll(() => place.remove());

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
  await expectSuite(await makeExecutable(root, place.path));
});

/** Runs the tests of `test/e2e/cli` with this program. */
async function expectSuite(program: string): Promise<void> {
  const env = { ...environment(), WEIR_TEST_CLI: program, VITEST: undefined, VITEST_WORKER_ID: undefined };
  const args = ["run", "--project", "e2e", "--reporter", "json", "test/e2e/cli/"];
  const { stdout } = await run(join(root, "node_modules", ".bin", "vitest"), args, {
    cwd: root,
    env,
    maxBuffer: 2 ** 26,
  }).catch((err: unknown) => err as { readonly stdout: string });
  const report = JSON.parse(stdout.slice(stdout.indexOf("{"))) as Report;
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
