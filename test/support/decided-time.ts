import { expect } from "vitest";

import { processorTime } from "./process-facts.ts";

const rounds = 5;

/**
 * Expects the best of at most `times` rounds (5) to be within `bound`, and returns it: other load of the machine can
 * only make rounds longer. A failure says how long the process `pid` waited for a processor meanwhile.
 */
export async function decidedTime(
  pid: number,
  bound: number,
  round: () => Promise<number>,
  times = rounds,
): Promise<number> {
  const before = processorTime(pid);
  const durations: number[] = [];
  while (durations.length < times && !(Math.min(...durations) <= bound)) durations.push(await round());
  const after = processorTime(pid);
  const best = Math.min(...durations);
  const ran = `process ${pid} ran ${Math.round(after.ran - before.ran)} ms`;
  const waited = `waited ${Math.round(after.waited - before.waited)} ms for a processor`;
  expect(
    best,
    `rounds took ${durations.map((each) => each.toFixed(1)).join(", ")}; ${ran} and ${waited}`,
  ).toBeLessThanOrEqual(bound);
  return best;
}
