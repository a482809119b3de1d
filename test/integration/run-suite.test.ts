import { mkdir, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";

import { expect, test } from "vitest";

import { runSuite } from "../../scripts/test/run-suite.ts";
import { tempDirectory } from "../support/temp-directory.ts";

const repository = join(import.meta.dirname, "..", "..");

const passes = `test("passes", async () => {});`;
const late = `test("is late", async () => {
  void Promise.reject(new Error("nobody awaited this"));
  await new Promise(setImmediate);
});`;

test("a suite of which every test passes fails by an error outside of them, and one that ends early says why", async () => {
  await using directory = await tempDirectory();
  const root = directory.path;
  await mkdir(join(root, "test"));
  await symlink(join(repository, "node_modules"), join(root, "node_modules"));
  await writeFile(join(root, "test", "quarantine.json"), "[]");
  await writeFile(join(root, "vitest.config.ts"), `export default { test: { globals: true, name: "unit" } };\n`);
  const run = async (text: string) => {
    await writeFile(join(root, "one.test.ts"), text);
    return runSuite("unit", { root, reports: root, environment: { PATH: dirname(process.execPath) } });
  };

  expect(await run(passes)).toEqual({ counts: { passed: 1, failed: 0, skipped: 0 }, failures: [], quarantined: [] });

  const { counts, failures } = await run(late);
  expect(counts).toEqual({ passed: 1, failed: 1, skipped: 0 });
  expect(failures).toEqual([expect.stringMatching(/^unit: an error outside of tests\n +Error: nobody awaited this\n/)]);
  expect(failures[0]).toMatch(/one\.test\.ts:2:/);

  await writeFile(join(root, "vitest.config.ts"), `throw new Error("this is why");\n`);
  expect((await run(passes)).failures).toEqual([
    expect.stringMatching(/^unit: did not come to an end\n(?:.*\n)*.*this is why/),
  ]);
});
