import { Registry } from "prom-client";
import { afterEach, beforeEach, describe, expect, test } from "vitest";

import type { AnsweredCall } from "../../../../runtime/core/history/history-row.ts";
import type { HistoryReport, HistoryReports } from "../../../../runtime/core/ports/history-reports.ts";
import { buildHistoryMetrics } from "../../../../runtime/history/history-metrics.ts";
import { HistoryWrites } from "../../../../runtime/history/history-writes.ts";
import { ScalingIntervals } from "../../../../runtime/history/reports/scaling-intervals.ts";
import { ReportStore } from "../../../../runtime/history/reports/store-reports.ts";
import { createLog } from "../../../../runtime/process/log.ts";
import { eventually } from "../../../support/eventually.ts";
import { RecordedWriter } from "../../../support/recorded-writer.ts";

const ref = { namespace: "functions", name: "pay" };
const call = (number: number): AnsweredCall => ({
  ...ref,
  id: `00000000-0000-4000-8000-${String(number).padStart(12, "0")}`,
  method: "GET",
  status: 500,
  startedAt: 1_000,
  duration: 2,
});
const scaling = (at: number, to = 1) => ({ ...ref, at, from: 0, to, reason: "called", message: "woken" });

class HeardReports implements HistoryReports {
  listener: ((report: HistoryReport) => void) | undefined;

  publish(report: HistoryReport): void {
    this.listener?.(report);
  }

  subscribe(listener: (report: HistoryReport) => void): () => void {
    this.listener = listener;
    return () => (this.listener = undefined);
  }
}

let reports: HeardReports;
let writer: RecordedWriter;
let registry: Registry;
let stop: AbortController;
let running: Promise<void>;
let now: number;

beforeEach(() => {
  reports = new HeardReports();
  writer = new RecordedWriter();
  registry = new Registry();
  stop = new AbortController();
  now = 0;
  const metrics = buildHistoryMetrics(registry);
  const parts = { reports, writes: new HistoryWrites(writer), metrics, log: createLog("test", "silent") };
  running = new ReportStore({ ...parts, now: () => now }).run(stop.signal);
});
afterEach(async () => {
  stop.abort();
  await running;
});

describe("ReportStore", () => {
  test("stores calls and points together, and nothing twice", async () => {
    const point = { ...ref, source: "gateway-1", at: 20_000, calls: [0, 3, 0, 0, 1] };
    reports.publish({ kind: "sync", calls: [call(1), call(2)] });
    reports.publish({ kind: "rollup", points: [point] });
    await eventually(() => writer.batches.length === 1, { what: "the batch" });
    expect(writer.batches[0]).toEqual({
      changes: [
        { kind: "sync", call: call(1) },
        { kind: "sync", call: call(2) },
      ],
      rollups: [point],
    });
    reports.publish({ kind: "sync", calls: [call(3)] });
    await eventually(() => writer.batches.length === 2, { what: "the next batch" });
    expect(writer.batches[1]?.changes).toHaveLength(1);
  });

  test("drops and counts what there is no room for", async () => {
    reports.publish({ kind: "sync", calls: Array.from({ length: 10_003 }, (_, number) => call(number)) });
    await eventually(() => writer.batches.length === 10, { what: "all batches" });
    expect(writer.batches.every(({ changes }) => changes.length === 1_000)).toBe(true);
    expect(await registry.metrics()).toContain('history_dropped_total{what="sync"} 3');
  });

  test("drops and counts what cannot be stored", async () => {
    writer.failure = new Error("the disk is full");
    reports.publish({ kind: "sync", calls: [call(1)] });
    await eventually(async () => (await registry.metrics()).includes('history_dropped_total{what="sync"} 1'), {
      what: "the count",
    });
  });

  test("stores at the end what has not been stored", async () => {
    reports.publish({ kind: "scaling", scaling: scaling(5_000) });
    stop.abort();
    await running;
    expect(writer.batches.map(({ rollups }) => rollups)).toEqual([
      [
        {
          ...ref,
          source: "scaling",
          at: 0,
          scalings: [{ at: 5_000, from: 0, to: 1, reason: "called", message: "woken" }],
        },
      ],
    ]);
    expect(reports.listener).toBeUndefined();
  });
});

describe("ScalingIntervals", () => {
  test("gathers the scalings of a function and interval, and gives them once it is over", () => {
    const intervals = new ScalingIntervals();
    for (const at of [10_001, 19_999, 20_000]) intervals.add(scaling(at));
    expect(intervals.take(21_999)).toEqual([]);
    expect(intervals.take(22_000).map(({ at, scalings }) => [at, scalings?.length])).toEqual([[10_000, 2]]);
    expect(intervals.take(32_000).map(({ at }) => at)).toEqual([20_000]);
    expect(intervals.take(99_000)).toEqual([]);
  });

  test("keeps the last of many", () => {
    const intervals = new ScalingIntervals();
    for (let to = 1; to <= 30; to += 1) expect(intervals.add(scaling(0, to))).toBe(true);
    const [point] = intervals.take(Number.POSITIVE_INFINITY);
    expect(point?.scalings?.map(({ to }) => to)).toEqual(Array.from({ length: 20 }, (_, index) => index + 11));
  });
});
