import { spawn } from "node:child_process";
import { once } from "node:events";

import { describe, expect, test } from "vitest";

import { addCounts, countResults, formatCounts } from "../../scripts/test/count-results.ts";
import { endLeftovers, leftoverProcesses } from "../../scripts/test/leftover-processes.ts";
import { listFailures, listSecondTries } from "../../scripts/test/list-failures.ts";
import { tempDirectory } from "../support/temp-directory.ts";

function file(status: string, ...tests: readonly string[]) {
  const assertionResults = tests.map((each, at) => ({
    status: each,
    fullName: `case ${at}`,
    failureMessages: each === "failed" ? ["Error: not so\n    at here"] : [],
  }));
  return { name: "/weir/test/some.test.ts", status, message: "Cannot load", assertionResults };
}

describe("countResults", () => {
  test("counts tests of all files", () => {
    const testResults = [file("passed", "passed", "skipped", "todo"), file("failed", "failed", "passed", "failed")];
    expect(countResults({ success: false, testResults })).toEqual({ passed: 2, failed: 2, skipped: 2 });
  });

  test("counts a file that did not load, a run that failed as a whole, and a run without an end", () => {
    expect(countResults({ success: false, testResults: [file("failed")] })).toEqual({
      passed: 0,
      failed: 1,
      skipped: 0,
    });
    const allPassed = [file("passed", "passed")];
    expect(countResults({ success: false, testResults: allPassed })).toEqual({ passed: 1, failed: 1, skipped: 0 });
    expect(countResults(undefined)).toEqual({ passed: 0, failed: 1, skipped: 0 });
  });

  test("is added up to the closing line", () => {
    const one = { passed: 3, failed: 1, skipped: 0 };
    expect(formatCounts(addCounts([one, one, { passed: 0, failed: 0, skipped: 2 }]))).toBe(
      "6 passed, 2 failed, 2 skipped",
    );
  });
});

describe("listFailures", () => {
  test("names each failed test with what it says, and files that did not load", () => {
    const testResults = [file("passed", "passed"), file("failed", "passed", "failed"), file("failed")];
    expect(listFailures("unit", "/weir", { success: false, testResults })).toEqual([
      "unit test/some.test.ts: case 1\n    Error: not so\n        at here",
      "unit test/some.test.ts\n    Cannot load",
    ]);
  });

  test("leaves out what passed when it was tried again, which has a list of its own", () => {
    const again = { status: "passed", fullName: "case 0", failureMessages: ["Error: not so\n    at here"] };
    const testResults = [{ ...file("passed", "passed"), assertionResults: [again] }];
    const report = { success: true, testResults };
    expect(listFailures("e2e", "/weir", report)).toEqual([]);
    expect(listSecondTries("e2e", "/weir", report)).toEqual([
      "e2e test/some.test.ts: case 0\n    Error: not so\n        at here",
    ]);
  });

  test("says that a suite did not come to an end", () => {
    expect(listFailures("unit", "/weir", undefined)).toEqual(["unit: did not come to an end"]);
  });
});

describe("leftoverProcesses", () => {
  test("finds what has to do with a directory, and nothing else", async () => {
    await using place = await tempDirectory("leftover");
    const script = "process.stdout.write('up'); setInterval(() => {}, 1000)";
    const inside = spawn(process.execPath, ["-e", script], { cwd: place.path, env: {} });
    const named = spawn(process.execPath, ["-e", script, place.path], { env: {} });
    const outside = spawn(process.execPath, ["-e", script], { env: {} });
    await Promise.all([inside, named, outside].map((child) => once(child.stdout, "data")));

    const found = await leftoverProcesses(place.path, 0);
    expect(new Set(found.map(({ pid }) => pid))).toEqual(new Set([inside.pid, named.pid]));
    const ended = Promise.all([once(inside, "exit"), once(named, "exit")]);
    endLeftovers(found);
    await ended;
    expect(await leftoverProcesses(place.path, 5_000)).toEqual([]);
    outside.kill("SIGKILL");
    await once(outside, "exit");
  });
});
