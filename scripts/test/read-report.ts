import { relative } from "node:path";
import { stripVTControlCharacters } from "node:util";

import type { Counts } from "./counts.ts";
import type { Quarantined } from "./quarantine.ts";

/** The parts of vitest's JSON report that are read. */
export interface VitestReport {
  readonly success: boolean;
  readonly testResults: readonly {
    /** Path of the file. */
    readonly name: string;
    readonly status: string;
    /** Why the file as a whole failed. */
    readonly message: string;
    readonly assertionResults: readonly {
      readonly status: string;
      readonly fullName: string;
      readonly failureMessages: readonly string[];
    }[];
  }[];
}

/** The result of one run. */
export interface SuiteResult {
  readonly counts: Counts;
  /** What failed, each with the start of its message. */
  readonly failures: readonly string[];
  /** Quarantined tests, which do not count, each with its outcome. */
  readonly quarantined: readonly string[];
}

/** Context for reading a report. */
export interface ReportContext {
  /** Exit code of vitest: not 0 also for failures outside of tests, such as an uncaught error. */
  readonly code: number | null;
  /** Name of the suite. */
  readonly suite: string;
  /** The repository. */
  readonly root: string;
  readonly quarantine: readonly Quarantined[];
  /** Errors outside of tests, as lines. */
  readonly outside: readonly string[];
  /** The end of what it printed as errors: of a run that fails without a failed test, the cause. */
  readonly said: string;
}

/** Lines of a failure's message that are shown; the suite's own output has the rest. */
const linesShown = 12;

/**
 * The result of one suite; without a report, it did not finish. A file that failed without a failed test (it
 * did not load, or its hooks failed) counts as one failure, and so does each error outside of tests, and a run that
 * failed without any of these.
 */
export function readReport(
  report: VitestReport | undefined,
  { suite, root, quarantine, code, outside, said }: ReportContext,
): SuiteResult {
  if (report === undefined) return failedResult([endOf(`${suite}: did not come to an end`, said)]);
  const counts = { passed: 0, failed: 0, skipped: 0 };
  const failures: string[] = [];
  const quarantined: string[] = [];
  /** Quarantined failures, which make vitest fail like others. */
  let excused = 0;
  for (const { name, status, message, assertionResults } of report.testResults) {
    const file = relative(root, name);
    let failed = 0;
    for (const result of assertionResults) {
      const { fullName, failureMessages } = result;
      if (result.status === "failed") failed += 1;
      const line = quarantine.find((each) => each.file === file && each.test === fullName);
      const title = `${suite} ${file}: ${fullName}`;
      if (line !== undefined) {
        if (result.status === "failed") excused += 1;
        quarantined.push(described(`${title} (${result.status}; since ${line.since}: ${line.cause})`, failureMessages));
      } else if (result.status === "passed") {
        counts.passed += 1;
      } else if (result.status === "failed") {
        counts.failed += 1;
        failures.push(described(title, failureMessages));
      } else counts.skipped += 1;
    }
    if (status === "failed" && failed === 0) {
      counts.failed += 1;
      failures.push(described(`${suite} ${file}`, [message]));
    }
  }
  for (const error of outside) {
    counts.failed += 1;
    failures.push(described(`${suite}: an error outside of tests`, [error]));
  }
  if ((code !== 0 || !report.success) && counts.failed === 0 && excused === 0) {
    counts.failed = 1;
    failures.push(endOf(`${suite}: ended with ${code}`, said));
  }
  return { counts, failures, quarantined };
}

/** A result of failures outside of tests. */
export function failedResult(failures: readonly string[]): SuiteResult {
  return { counts: { passed: 0, failed: failures.length, skipped: 0 }, failures, quarantined: [] };
}

function described(what: string, messages: readonly string[]): string {
  return withLines(what, filledLines(messages.join("\n")).slice(0, linesShown));
}

function endOf(what: string, said: string): string {
  return withLines(what, filledLines(stripVTControlCharacters(said)).slice(-linesShown));
}

const filledLines = (text: string): string[] => text.split("\n").filter((line) => line.trim() !== "");
const withLines = (what: string, lines: readonly string[]): string =>
  [what, ...lines.map((line) => `    ${line}`)].join("\n");
