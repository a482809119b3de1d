import type { MutantResult } from "@stryker-mutator/api/core";

/** Mutants of one file, or of all, by outcome. */
export interface Score {
  name: string;
  mutants: number;
  killed: number;
  survived: number;
  noCoverage: number;
  timeouts: number;
  /** Mutants for which no test could run, e.g. because the module no longer loads; not part of `mutants`. */
  errors: number;
}

/** Counts mutants; those that were left out on request are not counted. */
export function countScore(name: string, results: readonly MutantResult[]): Score {
  const count = (status: MutantResult["status"]): number => results.filter((one) => one.status === status).length;
  const killed = count("Killed");
  const survived = count("Survived");
  const noCoverage = count("NoCoverage");
  const timeouts = count("Timeout");
  const errors = count("RuntimeError") + count("CompileError");
  return { name, mutants: killed + survived + noCoverage + timeouts, killed, survived, noCoverage, timeouts, errors };
}

/** Percent of the mutants that a test found; a mutant that ran out of time was found too. */
export function percentFound({ mutants, killed, timeouts }: Score): number {
  return mutants === 0 ? 100 : (100 * (killed + timeouts)) / mutants;
}

/** One score per file, the lowest first. */
export function scoreFiles(results: readonly MutantResult[]): Score[] {
  const files = Map.groupBy(results, ({ fileName }) => fileName);
  return [...files]
    .map(([name, ofFile]) => countScore(name, ofFile))
    .sort((one, other) => percentFound(one) - percentFound(other));
}
