import { expect } from "vitest";

import type { RollupPoint, RollupSeries, RollupStep } from "../../runtime/core/history/rollups/rollup.ts";
import type { CallHistory, CallHistoryWriter, HistoryBounds } from "../../runtime/core/ports/call-history.ts";
import { historyStart } from "../support/history-calls.ts";

export interface OpenCallHistory {
  readonly reads: CallHistory;
  readonly writer: CallHistoryWriter;
  close(): Promise<void>;
}

/** Declares a test with a history of its own. */
export type OpenedHistory = (name: string, body: (history: OpenCallHistory) => Promise<void>) => void;

const hour = 3_600_000;
const day = 86_400_000;
export const unboundedHistory: HistoryBounds = { age: 365 * day, calls: 1_000_000, bytes: 1e12 };
const pay = { namespace: "shop", name: "pay" };
const echo = { namespace: "functions", name: "echo" };
const at = (seconds: number): number => historyStart + 1_000 * seconds;

/** A point of `seconds` after the start: two calls, one of them an error. */
export function rollupPoint(seconds: number, ref = echo, over: Partial<RollupPoint> = {}): RollupPoint {
  return {
    ...ref,
    source: "gateway-1",
    at: at(seconds),
    calls: [0, 1, 0, 0, 1],
    coldStarts: 0,
    durations: [20, 2],
    ...over,
  };
}

/** An hour of points of two sources, the gauges of one of them now and then. */
function pointsOfHour(): RollupPoint[] {
  const points: RollupPoint[] = [];
  for (let seconds = 0; seconds < 3_600; seconds += 10) {
    const replicas = seconds % 30 === 0 ? { replicas: 1 + ((seconds / 30) % 4), inFlight: (seconds / 30) % 3 } : {};
    points.push(rollupPoint(seconds, echo, replicas));
    points.push(
      rollupPoint(seconds, echo, { source: "gateway-2", durations: [40, 1, 44, 1], coldStarts: 1, inFlight: 2 }),
    );
    if (seconds % 600 === 0) points.push(rollupPoint(seconds, pay, { calls: [0, 9, 0, 0, 0], queued: seconds / 600 }));
  }
  return points;
}

async function seriesOf(
  reads: CallHistory,
  step: RollupStep,
  over: { readonly summed?: boolean; readonly top?: number } = {},
): Promise<readonly RollupSeries[]> {
  return await reads.rollups({
    functions: [echo, pay],
    step,
    since: historyStart,
    until: historyStart + hour,
    ...over,
  });
}

/** What `CallHistory` promises of rollups. */
export function rollupContract(opened: OpenedHistory): void {
  opened("add up sources and intervals, in every step", async ({ reads, writer }) => {
    await writer.apply({ changes: [], rollups: pointsOfHour() });
    const [fine, other] = await seriesOf(reads, "10s");
    expect(fine?.calls).toEqual(Array.from({ length: 360 }, () => 4));
    expect(fine?.errors).toEqual(Array.from({ length: 360 }, () => 2));
    expect(fine?.replicas.slice(0, 7)).toEqual([1, null, null, 2, null, null, 3]);
    expect(fine?.inFlight.slice(0, 4)).toEqual([2, 2, 2, 3]);
    expect(other?.calls.slice(0, 2)).toEqual([9, null]);
    expect(other?.queued.filter((value) => value !== null)).toEqual([0, 1, 2, 3, 4, 5]);

    const [minutes] = await seriesOf(reads, "1m");
    expect(minutes?.calls).toEqual(Array.from({ length: 60 }, () => 24));
    expect(minutes?.coldStarts).toEqual(Array.from({ length: 60 }, () => 6));
    expect(minutes?.replicas.slice(0, 3)).toEqual([2, 4, 2]);
    const [hours, hoursOfOther] = await seriesOf(reads, "1h");
    expect([hours?.calls, hours?.errors, hoursOfOther?.calls]).toEqual([[1_440], [720], [54]]);
    expect([hours?.p50, hours?.p95]).toEqual([
      [expect.closeTo(fine?.p50[0] ?? 0, 1)],
      [expect.closeTo(fine?.p95[0] ?? 0, 1)],
    ]);
  });

  opened("are the same if points come twice and in another order", async ({ reads, writer }) => {
    const points = pointsOfHour();
    await writer.apply({ changes: [], rollups: points });
    const steps = ["10s", "1m", "1h"] as const;
    const before = await Promise.all(steps.map((step) => seriesOf(reads, step)));
    await writer.apply({ changes: [], rollups: points.toReversed() });
    expect(await Promise.all(steps.map((step) => seriesOf(reads, step)))).toEqual(before);

    const moved = points.toReversed().map((one) => ({ ...one, at: one.at + hour }));
    for (let from = 0; from < moved.length; from += 100)
      await writer.apply({ changes: [], rollups: moved.slice(from, from + 150) });
    for (const [index, step] of steps.entries())
      expect(
        await reads.rollups({
          functions: [echo, pay],
          step,
          since: historyStart + hour,
          until: historyStart + 2 * hour,
        }),
      ).toEqual(before[index]);
  });

  opened("of several functions are summed, or those with most calls", async ({ reads, writer }) => {
    await writer.apply({ changes: [], rollups: pointsOfHour() });
    const [summed, ...others] = await seriesOf(reads, "1h", { summed: true });
    expect(others).toEqual([]);
    expect(summed).toMatchObject({ namespace: "", name: "", calls: [1_494], errors: [720] });
    expect((await seriesOf(reads, "1h", { top: 1 })).map(({ name }) => name)).toEqual(["echo"]);
    const unknown = { namespace: "none", name: "none" };
    expect(
      await reads.rollups({ functions: [unknown], step: "1h", since: historyStart, until: historyStart + hour }),
    ).toMatchObject([{ ...unknown, calls: [null], p50: [null], replicas: [null], scalings: [] }]);
  });

  opened("have the scalings of their time", async ({ reads, writer }) => {
    const scaling = (seconds: number) => ({ at: at(seconds), from: 0, to: 1, reason: "wake", message: "a call waits" });
    const source = "scaling";
    await writer.apply({
      changes: [],
      rollups: [
        { ...echo, source, at: at(20), scalings: [scaling(21), scaling(29)] },
        { ...echo, source, at: at(10), scalings: [scaling(11)] },
      ],
    });
    for (const step of ["10s", "1m", "1h"] as const) {
      const [series] = await seriesOf(reads, step);
      expect(series?.scalings).toEqual([scaling(11), scaling(21), scaling(29)]);
      expect(series?.calls.every((value) => value === null)).toBe(true);
    }
  });

  opened("trim() removes rollups beyond the age of their step", async ({ reads, writer }) => {
    await writer.apply({ changes: [], rollups: [rollupPoint(0), rollupPoint(3_600)] });
    const query = { functions: [echo], since: historyStart, until: historyStart + 2 * hour };
    const sums = async (step: RollupStep) =>
      (await reads.rollups({ ...query, step }))[0]?.calls.reduce<number>((sum, value) => sum + (value ?? 0), 0);
    while (await writer.trim(unboundedHistory, historyStart + 6 * hour + 1));
    expect([await sums("10s"), await sums("1m"), await sums("1h")]).toEqual([2, 4, 4]);
    // Whether it came before is not known any more.
    await writer.apply({ changes: [], rollups: [rollupPoint(0)] });
    expect([await sums("10s"), await sums("1m"), await sums("1h")]).toEqual([2, 4, 4]);
    while (await writer.trim(unboundedHistory, historyStart + 7 * day + 1));
    expect([await sums("10s"), await sums("1m"), await sums("1h")]).toEqual([0, 2, 4]);
    while (await writer.trim(unboundedHistory, historyStart + 90 * day + hour + 1));
    expect([await sums("10s"), await sums("1m"), await sums("1h")]).toEqual([0, 0, 0]);
  });
}
