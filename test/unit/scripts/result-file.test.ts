import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";

import { expect, test } from "vitest";

import { readResults, writeResult } from "../../../scripts/test/result-file.ts";
import { tempDirectory } from "../../support/temp-directory.ts";

const main = join(import.meta.dirname, "..", "..", "..", "scripts", "test", "main-sum.ts");

test("results of several runs are summed, with what failed in each", async () => {
  await using directory = await tempDirectory();
  const [one, other] = ["one.json", "other.json"].map((name) => join(directory.path, name)) as [string, string];
  await writeResult(one, {
    counts: { passed: 3, failed: 0, skipped: 1 },
    failures: [],
    quarantined: [],
  });
  await writeResult(other, {
    counts: { passed: 2, failed: 1, skipped: 0 },
    failures: ["cluster test/x.test.ts: y"],
    quarantined: ["cluster test/x.test.ts: z"],
  });
  expect(await readResults([one, other])).toEqual({
    counts: { passed: 5, failed: 1, skipped: 1 },
    failures: ["cluster test/x.test.ts: y"],
    quarantined: ["cluster test/x.test.ts: z"],
  });
});

test("a run that left no result, or half of one, has failed", async () => {
  await using directory = await tempDirectory();
  const half = join(directory.path, "npm test.json");
  await writeFile(half, '{"counts":{"passed":3,');
  expect(await readResults([half, join(directory.path, "other.json")])).toEqual({
    counts: { passed: 0, failed: 2, skipped: 0 },
    failures: ["npm test: did not come to an end", "other: did not come to an end"],
    quarantined: [],
  });
});

test("the command's last line is the sum, after what failed; it ends with 1 when anything failed", async () => {
  await using directory = await tempDirectory();
  const file = join(directory.path, "one.json");
  await writeResult(file, {
    counts: { passed: 3, failed: 0, skipped: 1 },
    failures: [],
    quarantined: [],
  });
  expect(await sum(file)).toEqual({ code: 0, stdout: "3 passed, 0 failed, 1 skipped\n" });
  await writeResult(file, {
    counts: { passed: 3, failed: 1, skipped: 0 },
    failures: ["unit x: y"],
    quarantined: ["e2e x: z"],
  });
  expect(await sum(file)).toEqual({
    code: 1,
    stdout: "\nIn quarantine, not counted:\ne2e x: z\n\nFailed:\nunit x: y\n\n3 passed, 1 failed, 0 skipped\n",
  });
});

function sum(file: string): Promise<{ code: unknown; stdout: string }> {
  return new Promise((resolve) => {
    execFile(process.execPath, [main, file], (err, stdout) => resolve({ code: err === null ? 0 : err.code, stdout }));
  });
}
