/** How many tests of one run passed, failed and were skipped. */
export interface Counts {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

/** Part of what vitest's JSON reporter writes. */
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

/**
 * Counts of one suite; no report means that it did not come to an end. A file that failed without a failed test (it
 * did not load, or its hooks failed) counts as one failure, and so does a run that failed as a whole.
 */
export function countResults(report: VitestReport | undefined): Counts {
  if (report === undefined) return { passed: 0, failed: 1, skipped: 0 };
  const counts = { passed: 0, failed: 0, skipped: 0 };
  for (const file of report.testResults) {
    let failedHere = 0;
    for (const { status } of file.assertionResults) {
      if (status === "passed") counts.passed++;
      else if (status === "failed") failedHere++;
      else counts.skipped++;
    }
    counts.failed += file.status === "failed" ? Math.max(1, failedHere) : failedHere;
  }
  if (!report.success && counts.failed === 0) counts.failed = 1;
  return counts;
}

/** Sum of several runs. */
export function addCounts(all: readonly Counts[]): Counts {
  return all.reduce(
    (sum, counts) => ({
      passed: sum.passed + counts.passed,
      failed: sum.failed + counts.failed,
      skipped: sum.skipped + counts.skipped,
    }),
    { passed: 0, failed: 0, skipped: 0 },
  );
}

/** The line a run closes with. */
export function formatCounts(counts: Counts): string {
  return `${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`;
}
