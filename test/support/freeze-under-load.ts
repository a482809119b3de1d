import { expect } from "vitest";

import { eventually } from "./eventually.ts";
import type { FaultBench } from "./fault-bench.ts";
import { notAccepted } from "./load.ts";

const rate = 20;

/**
 * FW20: no record can be written for `duration` milliseconds while calls with callbacks arrive. These calls are refused
 * and certainly not queued. Runs in flight end afterwards; none of their callbacks arrives twice, because no process
 * died.
 */
export async function freezeUnderLoad(bench: FaultBench, duration: number): Promise<void> {
  const { platform, sink } = bench;
  // It would revert the limit on records.
  platform.doctor.pause();
  const stop = new AbortController();
  const load = bench.load({
    rate,
    count: (rate * (2 * duration + 60_000)) / 1_000,
    callbackUrl: sink.url,
    signal: stop.signal,
  });
  await eventually(() => sink.received.length > rate, { what: "callbacks to come" });

  const thaw = await platform.broker.freezeRecords();
  const frozen = performance.now();
  try {
    await eventually(() => performance.now() - frozen > duration, { within: 2 * duration, what: "the time to pass" });
  } finally {
    await thaw();
  }
  const before = sink.received.length;
  await eventually(() => sink.received.length > before + rate, { what: "callbacks to come again" });
  stop.abort();
  const { sent } = await load;
  expect(notAccepted(sent.filter(({ status }) => status !== 202 && status !== 429))).toEqual([]);
  expect(sent.some(({ status }) => status === 429)).toBe(true);
  platform.doctor.resume();

  // A run whose record could not be written may be repeated: another worker cannot know how far it came.
  const { violations, counts } = await bench.settle({ within: 60_000, extraRuns: 8 });
  expect(violations).toEqual([]);
  expect(counts.accepted).toBeGreaterThan(2 * rate);
}
