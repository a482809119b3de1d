import { expect } from "vitest";

import { processorTime } from "./process-facts.ts";

const rounds = 5;

/**
 * The best of at most `times` rounds (5), which must be within `bound`: what else a machine does can only make times longer.
 * A failure says how long the process `pid` waited for a processor meanwhile.
 */
export async function decidedTime(
  pid: number,
  bound: number,
  round: () => Promise<number>,
  times = rounds,
): Promise<number> {
  const before = processorTime(pid);
  const taken: number[] = [];
  while (taken.length < times && !(Math.min(...taken) <= bound)) taken.push(await round());
  const after = processorTime(pid);
  const best = Math.min(...taken);
  const ran = `process ${pid} ran ${Math.round(after.ran - before.ran)} ms`;
  const waited = `waited ${Math.round(after.waited - before.waited)} ms for a processor`;
  expect(
    best,
    `rounds took ${taken.map((each) => each.toFixed(1)).join(", ")}; ${ran} and ${waited}`,
  ).toBeLessThanOrEqual(bound);
  return best;
}
