import { stat } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

import { afterEach, beforeEach, describe, expect, test } from "vitest";

import { SqliteCallHistoryWriter } from "../../runtime/adapters/sqlite/calls/sqlite-call-history-writer.ts";
import type { RollupPoint } from "../../runtime/core/history/rollups/rollup.ts";
import { rollupPoint, unboundedHistory } from "../contract/call-history-rollups.contract.ts";
import { historyChange, historyStart, openEntry } from "../support/history-calls.ts";
import { tempDirectory, type TempDirectory } from "../support/temp-directory.ts";

const hour = 3_600_000;
const now = historyStart + 5 * hour;

let directory: TempDirectory;
let writer: SqliteCallHistoryWriter;
const file = (): string => join(directory.path, "calls.db");

beforeEach(async () => {
  directory = await tempDirectory("trim");
  writer = await SqliteCallHistoryWriter.open({ file: file() });
});
afterEach(async () => {
  await writer.close();
  await directory.remove();
});

async function store(calls: number, points: readonly RollupPoint[] = []): Promise<void> {
  for (let from = 0; from < calls; from += 1_000)
    await writer.apply({
      changes: Array.from({ length: Math.min(1_000, calls - from) }, (_, index) => historyChange(from + index)),
      rollups: [],
    });
  for (let from = 0; from < points.length; from += 1_000)
    await writer.apply({ changes: [], rollups: points.slice(from, from + 1_000) });
}

/** Points of so many functions in each interval of four hours. */
function manyPoints(functions: number): readonly RollupPoint[] {
  const durations = Array.from({ length: 40 }, (_, index) => (index % 2 === 0 ? index : 1_000 + index));
  return Array.from({ length: 1_440 }, (_, interval) =>
    Array.from({ length: functions }, (__, number) =>
      rollupPoint(10 * interval, { namespace: "functions", name: `f${number}` }, { durations }),
    ),
  ).flat();
}

function rollupRows(): ReadonlyMap<number, number> {
  const database = new DatabaseSync(file(), { readOnly: true });
  const rows = database.prepare("SELECT step, count(*) AS rows FROM rollup GROUP BY step").all();
  database.close();
  return new Map(rows.map((row) => [Number(row["step"]), Number(row["rows"])]));
}

async function trimmed(bytes: number): Promise<number> {
  let trims = 1;
  while (await writer.trim({ ...unboundedHistory, bytes }, now)) trims += 1;
  return trims;
}

describe("a history that is too large", () => {
  test("for its rollups removes the finest of them, and no call", async () => {
    await store(1_000, manyPoints(12));
    const before = rollupRows();
    const { bytes } = await writer.size();
    await trimmed(Math.floor(bytes * 0.7));
    const { calls, bytes: after } = await writer.size();
    expect(calls).toBe(1_000);
    expect(after).toBeLessThanOrEqual(bytes * 0.7);
    const left = rollupRows();
    expect(left.get(0) ?? 0).toBeLessThan(before.get(0) ?? 0);
    expect([left.get(1), left.get(2)]).toEqual([before.get(1), before.get(2)]);
    // Points of what was removed would be counted twice.
    await writer.apply({ changes: [], rollups: manyPoints(12).slice(0, 100) });
    expect(rollupRows()).toEqual(left);
  });

  test("for its calls removes calls, and no rollup", async () => {
    await store(8_000, manyPoints(1).slice(0, 100));
    const before = rollupRows();
    const { bytes } = await writer.size();
    await trimmed(Math.floor(bytes / 2));
    const size = await writer.size();
    expect(size.bytes).toBeLessThanOrEqual(bytes / 2);
    expect(size.calls).toBeGreaterThan(3_000);
    expect(rollupRows()).toEqual(before);
  });

  test("whose rollups have nothing to give removes calls, whatever their share", async () => {
    await store(2_000);
    // Open calls take room, and stay.
    const changes = Array.from({ length: 2_000 }, (_, index) => historyChange(50_000 + index, openEntry));
    await writer.apply({ changes, rollups: [] });
    await trimmed(1);
    expect(await writer.size()).toMatchObject({ calls: 2_000 });
    expect(await writer.openCalls(undefined, 10_000)).toHaveLength(2_000);
  });

  test("gives its room back to the disk, while it is read", async () => {
    await store(30_000);
    const bytes = Math.floor((await writer.size()).bytes / 2);
    const reader = new DatabaseSync(file(), { readOnly: true });
    reader.exec("BEGIN");
    const seen = reader.prepare("SELECT count(*) AS calls FROM call").get()?.["calls"];
    expect(await trimmed(bytes)).toBeGreaterThan(10);
    // It sees what it saw, and nobody waited for it.
    expect(reader.prepare("SELECT count(*) AS calls FROM call").get()?.["calls"]).toBe(seen);
    reader.exec("COMMIT");
    reader.close();
    const used = (await writer.size()).bytes;
    const database = new DatabaseSync(file());
    database.exec("PRAGMA wal_checkpoint(PASSIVE)");
    const free = Number(database.prepare("PRAGMA freelist_count").get()?.["freelist_count"]);
    database.close();
    const { size } = await stat(file());
    expect(size).toBeLessThan(1.05 * bytes);
    expect(size - used).toBe(free * 4_096);
  });
});
