import { expect } from "vitest";

import { processorTime } from "./process-facts.ts";
import { say } from "./say.ts";

const rounds = 3;

/**
 * The best of at most `times` rounds (3), which must be within `bound`: what else a machine does can only make times longer.
 * Where the process `pid` waited longer for a processor than it ran, a time says nothing of it: that is said aloud, and
 * nothing is decided.
 */
export async function decidedTime(
  pid: number,
  bound: number,
  round: () => Promise<number>,
  times = rounds,
): Promise<number> {
  const before = processorTime(pid);
  let best = Number.POSITIVE_INFINITY;
  for (let count = 0; count < times && !(best <= bound); count += 1) best = Math.min(best, await round());
  const after = processorTime(pid);
  const [ran, waited] = [after.ran - before.ran, after.waited - before.waited];
  if (best > bound && waited > ran) {
    const facts = `${best.toFixed(1)} of ${bound}, gateway ran ${Math.round(ran)} ms and waited ${Math.round(waited)} ms to run`;
    say(`Not decided, as the machine is busy: ${expect.getState().currentTestName ?? ""} (${facts})`);
    return best;
  }
  expect(best).toBeLessThanOrEqual(bound);
  return best;
}
