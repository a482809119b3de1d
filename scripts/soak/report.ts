import type { Repetitions } from "./fault-files.ts";
import type { SoakResult } from "./soak.ts";

/** All results of a soak. */
export interface SoakReport {
  readonly files: Repetitions;
  readonly load: SoakResult;
}

/** The report for a person. */
export function formatReport({ files, load }: SoakReport): string {
  const { counts } = load;
  const faults = Object.entries(load.faults).map(([name, times]) => `    ${times} × ${name}`);
  return [
    `fault files: ${files.passed} rounds passed, ${files.failed} failed`,
    `load: ${load.sent} calls in ${load.minutes} min, seed ${load.seed}`,
    `  accepted ${counts.accepted}, refused ${counts.refused}, unknown ${counts.unknown} (${counts.unknownThatRan} ran)`,
    `  extra runs ${counts.extraRuns}, extra callbacks ${counts.extraCallbacks}`,
    `  accepted in p50 ${load.acceptP50.toFixed(1)} ms, p99 ${load.acceptP99.toFixed(1)} ms`,
    "  faults:",
    ...faults,
    ...(load.violations.length === 0 ? ["  all invariants hold"] : ["  violations:", ...load.violations]),
  ].join("\n");
}
