import { setTimeout as pause } from "node:timers/promises";

import { residentBytes } from "../../test/support/process-facts.ts";

const megabyte = 1_000_000;
/** Milliseconds. */
const times = { between: 250, steady: 3_000, longest: 30_000 } as const;
const looks = times.steady / times.between;
/** Bytes within which memory counts as steady. */
const tolerance = 1_048_576;

/**
 * Megabytes that a process holds once it has come to rest: when they stayed the same within 1 MiB for 3 s. What they are
 * after half a minute when they do not.
 */
export async function restingMegabytes(pid: number): Promise<number> {
  const seen: number[] = [];
  for (const until = performance.now() + times.longest; performance.now() < until; await pause(times.between)) {
    seen.push(residentBytes(pid));
    const last = seen.slice(-looks);
    if (last.length === looks && Math.max(...last) - Math.min(...last) <= tolerance) break;
  }
  return (seen.at(-1) ?? Number.NaN) / megabyte;
}
