import { setTimeout as pause } from "node:timers/promises";

import type { Contest } from "../bench-row.ts";
import { openBenchPlatform, type BenchPlatform, type BenchPlatformOptions } from "../queue/bench-platform.ts";
import type { HistoryFault } from "./history-fault.ts";
import { startHistory, type BenchHistory } from "./start-history.ts";

/** What is measured of a platform, once; `history` is there on the side that has one. */
export type MeasureSide = (platform: BenchPlatform, history: BenchHistory | undefined) => Promise<number>;

const lookEvery = 20;

/**
 * Two platforms alike, but that the processes of one report to a history. Its process runs while that side is measured,
 * with a new file each time, and has read everything before the other side is measured. A fault lasts as long as one
 * measurement.
 */
export async function openHistorySides(
  options: Omit<BenchPlatformOptions, "history">,
  measure: MeasureSide,
  openFault?: () => Promise<HistoryFault>,
): Promise<Contest> {
  await using opened = new AsyncDisposableStack();
  const open = async (history: boolean): Promise<BenchPlatform> => {
    const platform = await openBenchPlatform({ ...options, history });
    opened.defer(() => platform.close());
    return platform;
  };
  const [kept, unkept] = [await open(true), await open(false)];
  const closing = opened.move();
  return {
    weir: async () => {
      await using fault = await openFault?.();
      await using history = await startHistory(kept.server, { ...fault?.start, users: false });
      await untilLevel(history);
      const end = fault?.begin(history);
      const value = await measure(kept, history).finally(end);
      if (fault?.recovers !== false) await untilLevel(history);
      return value;
    },
    peer: () => measure(unkept, undefined),
    close: () => closing.disposeAsync(),
  };
}

async function untilLevel({ reads }: BenchHistory): Promise<void> {
  for (;;) {
    const progress = await reads.progress().catch(() => undefined);
    if (progress?.complete === true && progress.lagSeconds === 0) return;
    await pause(lookEvery);
  }
}
