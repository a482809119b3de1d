import { formatCounts } from "./count-results.ts";
import type { SuiteResult } from "./run-suite.ts";

/**
 * Ends a run: what needed a second try, and what failed, once more, so that it is seen where a long output is read from its
 * end, and the line of sums.
 */
export function sayResult({ counts, failures, secondTries }: SuiteResult): void {
  if (secondTries.length > 0) console.log(`\nPassed at the second try only:\n${secondTries.join("\n")}`);
  if (failures.length > 0) console.log(`\nFailed:\n${failures.join("\n")}\n`);
  console.log(formatCounts(counts));
}
