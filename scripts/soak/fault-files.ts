import { runSuites } from "../test/run-suites.ts";

/** How often the fault files ran, and how often one of them failed. */
export interface Repetitions {
  readonly passed: number;
  readonly failed: number;
}

const files = ["/queue-", "/fault-"];

/** Runs all files of fault rows `times` times, one round after the other; their output is shown. */
export async function repeatFaultFiles(times: number): Promise<Repetitions> {
  let passed = 0;
  for (let round = 0; round < times; round += 1) {
    // Files of the second suite must run alone on the machine.
    const { counts } = await runSuites({
      suites: ["integration", "alone"],
      files,
      interrupted: () => false,
    });
    if (counts.failed === 0) passed += 1;
  }
  return { passed, failed: times - passed };
}
