import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { describe, expect, test } from "vitest";

import { addCounts, formatCounts, type Counts } from "../../../scripts/test/counts.ts";
import { endLeftovers, leftoverProcesses } from "../../../scripts/test/leftover-processes.ts";
import { quarantineFaults, readQuarantine, type Quarantined } from "../../../scripts/test/quarantine.ts";
import { readReport, type VitestReport } from "../../../scripts/test/read-report.ts";
import { tempDirectory } from "../../support/temp-directory.ts";

const root = "/weir";
const day = 86_400_000;
const context = { suite: "e2e", root, quarantine: [], code: 1, outside: [], said: "" };
const quarantined = { since: "2026-11-23", file: "test/some.test.ts", test: "case 0", cause: "a race" } as const;

function file(status: string, ...tests: readonly string[]) {
  const assertionResults = tests.map((each, at) => ({
    status: each,
    fullName: `case ${at}`,
    failureMessages: each === "failed" ? ["Error: not so\n    at here"] : [],
  }));
  return { name: "/weir/test/some.test.ts", status, message: "Cannot load", assertionResults };
}

const counted = (report: VitestReport | undefined): Counts => readReport(report, context).counts;

describe("a vitest report", () => {
  test("counts tests of all files", () => {
    const testResults = [file("passed", "passed", "skipped", "todo"), file("failed", "failed", "passed", "failed")];
    expect(counted({ success: false, testResults })).toEqual({ passed: 2, failed: 2, skipped: 2 });
  });

  test("counts a file that did not load, a run that failed as a whole, and a run without an end", () => {
    expect(counted({ success: false, testResults: [file("failed")] })).toEqual({ passed: 0, failed: 1, skipped: 0 });
    const allPassed = [file("passed", "passed")];
    expect(counted({ success: false, testResults: allPassed })).toEqual({ passed: 1, failed: 1, skipped: 0 });
    expect(readReport(undefined, context)).toEqual({
      counts: { passed: 0, failed: 1, skipped: 0 },
      failures: ["e2e: did not come to an end"],
      quarantined: [],
    });
  });

  test("names each failed test with its message, and files that did not load", () => {
    const testResults = [file("passed", "passed"), file("failed", "passed", "failed"), file("failed")];
    expect(readReport({ success: false, testResults }, context).failures).toEqual([
      "e2e test/some.test.ts: case 1\n    Error: not so\n        at here",
      "e2e test/some.test.ts\n    Cannot load",
    ]);
  });

  test.each(["failed", "passed"])("a test in quarantine that %s is reported, and does not count", (status) => {
    const testResults = [file(status, status, "passed")];
    const passes = status === "passed";
    const quarantine = [quarantined];
    const result = readReport({ success: passes, testResults }, { ...context, quarantine, code: passes ? 0 : 1 });
    expect(result.counts).toEqual({ passed: 1, failed: 0, skipped: 0 });
    expect(result.failures).toEqual([]);
    const text = status === "failed" ? "\n    Error: not so\n        at here" : "";
    expect(result.quarantined).toEqual([`e2e test/some.test.ts: case 0 (${status}; since 2026-11-23: a race)${text}`]);
  });

  test("an error outside of tests is a failure, also beside a test in quarantine that passes", () => {
    const testResults = [file("passed", "passed")];
    for (const quarantine of [[], [quarantined]]) {
      const { counts, failures } = readReport({ success: true, testResults }, { ...context, quarantine });
      expect(counts.failed).toBe(1);
      expect(failures).toEqual(["e2e: ended with 1"]);
    }
  });

  test("a run that fails without a failed test shows the last lines that it printed as errors", () => {
    const said = `${"earlier\n".repeat(20)}\n\u001B[31mError: write EPIPE\u001B[39m\n`;
    const last = [...Array.from({ length: 11 }, () => "    earlier"), "    Error: write EPIPE"].join("\n");
    const failures = (report?: VitestReport) => readReport(report, { ...context, said }).failures;
    expect(failures()).toEqual([`e2e: did not come to an end\n${last}`]);
    expect(failures({ success: true, testResults: [file("passed", "passed")] })).toEqual([
      `e2e: ended with 1\n${last}`,
    ]);
  });

  test("each error outside of tests is a failure that says what was thrown, and where", () => {
    const report = { success: true, testResults: [file("passed", "passed")] };
    const outside = ["Error: late\n    at here", "Error: later"];
    for (const quarantine of [[], [quarantined]]) {
      const { counts, failures } = readReport(report, { ...context, quarantine, outside });
      expect(counts.failed).toBe(2);
      expect(failures).toEqual([
        "e2e: an error outside of tests\n    Error: late\n        at here",
        "e2e: an error outside of tests\n    Error: later",
      ]);
    }
  });

  test("a line of the quarantine covers that test of that file alone", () => {
    const testResults = [file("failed", "failed", "failed")];
    for (const quarantine of [[quarantined], [{ ...quarantined, file: "test/other.test.ts" }]]) {
      const { counts } = readReport({ success: false, testResults }, { ...context, quarantine });
      expect(counts.failed).toBe(quarantine[0]?.file === quarantined.file ? 1 : 2);
    }
  });
});

describe("the quarantine", () => {
  const now = Date.parse("2026-11-23T12:00:00Z");
  const faults = (line: Partial<Quarantined>, at = now): readonly string[] =>
    quarantineFaults([{ ...quarantined, file: "package.json", ...line }], process.cwd(), at);

  test("may hold a line for 14 days", () => {
    expect(faults({})).toEqual([]);
    expect(faults({}, now + 13 * day)).toEqual([]);
    expect(faults({}, now + 14 * day)).toEqual([
      expect.stringContaining('Cannot keep "case 0" in test/quarantine.json: it is there since 2026-11-23'),
    ]);
  });

  test.each(["2026-11-24", "yesterday", "23.11.2026"])("refuses the day %s", (since) => {
    expect(faults({ since })).toEqual([expect.stringContaining(`"${since}" is not a day up to today`)]);
  });

  test("refuses a file that is gone", () => {
    expect(faults({ file: "test/gone.test.ts" })).toEqual([expect.stringContaining("there is no file test/gone")]);
  });

  test.each(["{}", '[{"since":"2026-11-23"}]', `[${JSON.stringify({ ...quarantined, cause: "" })}]`])(
    "does not read %s",
    async (text) => {
      await using place = await tempDirectory("quarantine");
      await mkdir(join(place.path, "test"));
      await writeFile(join(place.path, "test", "quarantine.json"), text);
      await expect(readQuarantine(place.path)).rejects.toThrow("Cannot read test/quarantine.json");
    },
  );
});

test("counts are summed in the last line", () => {
  const one = { passed: 3, failed: 1, skipped: 0 };
  expect(formatCounts(addCounts([one, one, { passed: 0, failed: 0, skipped: 2 }]))).toBe(
    "6 passed, 2 failed, 2 skipped",
  );
});

describe("leftoverProcesses", () => {
  test("finds the processes of a directory, and no others", async () => {
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
