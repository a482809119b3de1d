import { setTimeout as pause } from "node:timers/promises";

import { quantile } from "../test/support/load.ts";

/** Milliseconds that a timer may be late without a stall. */
const timerSlack = 2;

/**
 * Starts `act` `rate` times per second, whether or not earlier ones have ended, and resolves with the quantile `share`
 * of the latencies in milliseconds. A latency begins when `act` was due, so a stall counts for every one that it
 * delayed.
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
