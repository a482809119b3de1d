import { formatCounts } from "./counts.ts";
import type { SuiteResult } from "./read-report.ts";

/**
 * Prints the end of a run: quarantined tests, failures again, as a long output is read from its end, and the counts.
 */
export function sayResult({ counts, failures, quarantined }: SuiteResult): void {
  if (quarantined.length > 0) console.log(`\nIn quarantine, not counted:\n${quarantined.join("\n")}`);
  if (failures.length > 0) console.log(`\nFailed:\n${failures.join("\n")}\n`);
  console.log(formatCounts(counts));
}

/** The exit code of a run: 130 after Ctrl-C, 1 when something failed or nothing passed. */
export function exitCodeOf({ counts }: SuiteResult, interrupted = false): number {
  if (interrupted) return 130;
  return counts.failed > 0 || counts.passed === 0 ? 1 : 0;
}
