import { rollupSteps, type RollupStep } from "../../../core/history/rollups/rollup.ts";

/** The number that is stored for a step. */
export const rollupStepCode: Readonly<Record<RollupStep, number>> = { "10s": 0, "1m": 1, "1h": 2 };

/** Stands for all functions together, in place of the id of one. */
export const allFunctions = 0;

/** The intervals that a time belongs to, one of each step. */
export function intervalsOf(at: number): readonly { readonly step: RollupStep; readonly begin: number }[] {
  return (Object.keys(rollupSteps) as RollupStep[]).map((step) => ({
    step,
    begin: at - (at % rollupSteps[step].length),
  }));
}
