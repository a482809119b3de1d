import { setTimeout as pause } from "node:timers/promises";

import { residentBytes } from "../../test/support/process-facts.ts";

const megabyte = 1_000_000;
/** Milliseconds. */
const times = { between: 250, steady: 3_000, longest: 30_000 } as const;
const steadySamples = times.steady / times.between;
/** Bytes within which memory counts as steady. */
const tolerance = 1_048_576;

/**
 * Resident megabytes of a process at rest, which is when they have stayed within 1 MiB for 3 s, or else after half a
 * minute.
 */
export async function restingMegabytes(pid: number): Promise<number> {
  const seen: number[] = [];
  for (const until = performance.now() + times.longest; performance.now() < until; await pause(times.between)) {
    seen.push(residentBytes(pid));
    const last = seen.slice(-steadySamples);
    if (last.length === steadySamples && Math.max(...last) - Math.min(...last) <= tolerance) break;
  }
  return (seen.at(-1) ?? Number.NaN) / megabyte;
}
