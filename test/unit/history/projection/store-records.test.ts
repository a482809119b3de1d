import { Registry } from "prom-client";
import { afterEach, beforeEach, describe, expect, test } from "vitest";

import { buildHistoryMetrics, type HistoryMetrics } from "../../../../runtime/history/history-metrics.ts";
import { HistoryWrites } from "../../../../runtime/history/history-writes.ts";
import { ReadState } from "../../../../runtime/history/projection/read-state.ts";
import { storeRecords } from "../../../../runtime/history/projection/store-records.ts";
import { createLog } from "../../../../runtime/process/log.ts";
import { eventually } from "../../../support/eventually.ts";
import { RecordedWriter } from "../../../support/recorded-writer.ts";
import { recordBatch, ScriptedRecords } from "../../../support/scripted-records.ts";

const first = "11111111-1111-4111-8111-111111111111";
const second = "22222222-2222-4222-8222-222222222222";
const hour = 3_600_000;

let records: ScriptedRecords;
let writer: RecordedWriter;
let metrics: HistoryMetrics;
let registry: Registry;
let stop: AbortController;
let running: Promise<void>;
let missed: number;
let gaps: number;
let trouble: unknown[];

function run(): void {
  const state = new ReadState({ now: () => records.now(), monotonic: () => performance.now() });
  const parts = { records, writes: new HistoryWrites(writer), state, metrics, log: createLog("test", "silent") };
  running = storeRecords(
    {
      ...parts,
      onMissed: () => (missed += 1),
      onGap: () => (gaps += 1),
      onTrouble: (reason) => void trouble.push(reason),
    },
    stop.signal,
  );
}

const valueOf = async (name: string): Promise<number | undefined> =>
  (await registry.getSingleMetric(name)?.get())?.values[0]?.value;

beforeEach(() => {
  records = new ScriptedRecords();
  writer = new RecordedWriter();
  registry = new Registry();
  metrics = buildHistoryMetrics(registry);
  stop = new AbortController();
  missed = gaps = 0;
  trouble = [];
});
afterEach(async () => {
  stop.abort();
  await running;
});

describe("storeRecords()", () => {
  test("goes on at the stored position, and stores changes with the position they lead to", async () => {
    writer.stored = { created: "2026-01-01T00:00:00Z", sequence: 4, at: Date.now(), base: 0 };
    run();
    records.add(recordBatch(5, [first]));
    records.add(recordBatch(9, [first, second]));
    await eventually(() => writer.batches.length === 2, { what: "both batches" });
    expect(records.followed).toEqual([expect.objectContaining({ sequence: 4 })]);
    expect(writer.batches.map(({ changes, position }) => [changes.length, position?.sequence])).toEqual([
      [1, 5],
      [2, 9],
    ]);
    await eventually(async () => (await valueOf("history_applied_total")) === 3, { what: "the count" });
  });

  test("stores a batch until that succeeds, and reports the trouble and its end", async () => {
    writer.failure = new Error("the disk is full");
    run();
    records.add(recordBatch(5, [first]));
    await eventually(() => trouble.length > 0, { what: "the trouble" });
    expect(trouble[0]).toBe(writer.failure);
    expect(writer.batches).toEqual([]);
    writer.failure = undefined;
    await eventually(() => writer.batches.length === 1, { what: "the batch" });
    expect(trouble.at(-1)).toBeUndefined();
  });

  test("stores no batch that says nothing new, but the first", async () => {
    run();
    records.add(recordBatch(5, [], { isFirst: true }));
    records.add(recordBatch(5, []));
    records.add(recordBatch(5, []));
    records.add(recordBatch(6, [first]));
    await eventually(() => writer.batches.length === 2, { what: "the last batch" });
    expect(writer.batches.map(({ position }) => position?.sequence)).toEqual([5, 6]);
  });

  test("has open calls checked when reading begins, and writes the gap with the batch after it", async () => {
    const at = Date.now() - hour;
    writer.stored = { created: "2026-01-01T00:00:00Z", sequence: 4, at, base: 0 };
    run();
    records.add(recordBatch(50, [first], { removed: 40, isFirst: true }));
    records.add(recordBatch(51, [second]));
    await eventually(() => writer.batches.length === 2, { what: "both batches" });
    const [late, next] = writer.batches;
    expect(late?.gap?.from).toBe(at);
    expect(late?.gap?.to ?? 0).toBeGreaterThan(at + hour - 121_000);
    expect(next?.gap).toBeUndefined();
    expect([missed, gaps, await valueOf("history_gaps_total")]).toEqual([1, 1, 1]);
  });

  test("has open calls checked again when there is a gap later on", async () => {
    writer.stored = { created: "2026-01-01T00:00:00Z", sequence: 4, at: Date.now() - hour, base: 0 };
    run();
    records.add(recordBatch(5, [first], { isFirst: true }));
    await eventually(() => missed === 1, { what: "the check at the start" });
    records.add(recordBatch(50, [second], { removed: 40, readAt: Date.now() + hour }));
    await eventually(() => missed === 2, { what: "the check after the gap" });
    records.add(recordBatch(51, [first]));
    await eventually(() => writer.batches.length === 3, { what: "the last batch" });
    expect([missed, gaps]).toEqual([2, 1]);
  });

  test("counts values that are no records", async () => {
    run();
    records.add(recordBatch(7, [], { unreadable: 3 }));
    await eventually(async () => /history_dropped_total\{what="records"\} 3/.test(await registry.metrics()), {
      what: "the count",
    });
  });
});
