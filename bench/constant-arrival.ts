import { setTimeout as pause } from "node:timers/promises";

import { quantile } from "../test/support/load.ts";

/** A timer may fire that much late without any stall; milliseconds. */
const timerSlack = 2;

/**
 * Starts `act` `rate` times a second, whether or not earlier ones are done, and resolves with the value below which the
 * share `share` of the latencies lies. Milliseconds, from when each was due, so that a stall counts for all it held up.
 */
export async function latencyAt(
  act: () => Promise<void>,
  options: { readonly rate: number; readonly count: number; readonly share: number },
): Promise<number> {
  const latencies: number[] = [];
  const begin = performance.now();
  const open: Promise<void>[] = [];
  for (let sequence = 0; sequence < options.count; sequence++) {
    const due = begin + (sequence * 1_000) / options.rate;
    await pause(Math.max(0, due - performance.now()));
    const now = performance.now();
    const from = now - due > timerSlack ? due : now;
    open.push(act().then(() => void latencies.push(performance.now() - from)));
  }
  await Promise.all(open);
  return quantile(
    latencies.toSorted((a, b) => a - b),
    options.share,
  );
}
