import { Registry } from "prom-client";
import { afterEach, beforeEach, describe, expect, test } from "vitest";

import type { CallHistory, HistoryGap } from "../../../runtime/core/ports/call-history.ts";
import type { HistoryRebuild } from "../../../runtime/core/ports/history-rebuild.ts";
import { buildHistory, type BuiltHistory } from "../../../runtime/history/build-history.ts";
import { leasesOf } from "../../../runtime/history/held-lease.ts";
import { buildHistoryMetrics } from "../../../runtime/history/history-metrics.ts";
import { createLog } from "../../../runtime/process/log.ts";
import { eventually } from "../../support/eventually.ts";
import { MemoryLeases } from "../../support/memory/memory-leases.ts";
import { RecordedWriter } from "../../support/recorded-writer.ts";
import { recordBatch, ScriptedRecords } from "../../support/scripted-records.ts";

const id = "11111111-1111-4111-8111-111111111111";
const gap: HistoryGap = { from: 1, to: 2 };
/** A rebuild without anything to copy. */
const emptyRebuild = {
  reason: "damaged",
  hasLosses: false,
  copySome: async () => false,
  addUnknown: async () => 0,
};

let records: ScriptedRecords;
let writer: RecordedWriter;
let leases: MemoryLeases;
let registry: Registry;
let gaps: readonly HistoryGap[];
let readingFails: boolean;
let rebuild: HistoryRebuild | undefined;
let stop: AbortController;
const running: Promise<void>[] = [];

function open(): BuiltHistory {
  const reads: Pick<CallHistory, "gaps" | "functions"> = {
    functions: async () => ["functions", "shop", "gone"].map((namespace) => ({ namespace, name: "pay" })),
    gaps: async () => {
      if (readingFails) throw new Error("the reader is away");
      return gaps;
    },
  };
  const history = buildHistory({
    records,
    reports: { publish: () => {}, subscribe: () => () => {} },
    letters: { all: async function* () {} },
    requests: { removeFunction: async () => 0 },
    leases,
    reads: reads as CallHistory,
    writer,
    rebuild,
    bounds: { age: 1, calls: 1, bytes: 1 },
    namespaces: {
      list: async () => [{ name: "shop", labels: {}, annotations: {}, createdAt: "2026-01-31", deleting: false }],
    },
    defaultNamespace: "functions",
    leaseTtl: 1_000,
    metrics: buildHistoryMetrics(registry),
    log: createLog("test", "silent"),
  });
  running.push(history.run(stop.signal));
  return history;
}

beforeEach(() => {
  records = new ScriptedRecords();
  writer = new RecordedWriter();
  leases = new MemoryLeases();
  registry = new Registry();
  gaps = [];
  readingFails = false;
  rebuild = undefined;
  stop = new AbortController();
});
afterEach(async () => {
  stop.abort();
  await Promise.all(running.splice(0));
});

describe("buildHistory()", () => {
  test("removes what it has of namespaces that are gone", async () => {
    open();
    await eventually(() => writer.removedNamespaces.length > 0, { what: "the removal" });
    expect(writer.removedNamespaces).toEqual(["gone"]);
  });

  test("writes as leader only, and goes on where the one before stopped", async () => {
    expect(await leases.acquire("process.history", "other", 60_000)).toBe(true);
    writer.stored = recordBatch(7, []).position;
    const history = open();
    records.add(recordBatch(8, [id]));
    expect((await history.progress()).lagSeconds).toBeLessThan(30);
    expect([writer.batches, records.followed]).toEqual([[], []]);
    expect(await registry.metrics()).toContain("history_leader 0");

    await leases.release("process.history", "other");
    await eventually(() => writer.batches.length === 1, { what: "the batch" });
    expect(records.followed[0]?.sequence).toBe(7);
    expect(await registry.metrics()).toContain("history_leader 1");
    expect(await registry.metrics()).toContain("history_rows 7");
  });

  test("that is filled anew stores nothing before what was there, and is not complete until it is level", async () => {
    const done: string[] = [];
    const position = { ...recordBatch(7, []).position, at: Date.now() - 60_000 };
    const filled = { ...emptyRebuild, position, isUnderWay: true };
    rebuild = Object.assign(filled, {
      seed: async () => {
        expect(writer.batches).toEqual([]);
        done.push("seed");
        writer.stored = position;
      },
      finish: async () => {
        filled.isUnderWay = false;
      },
      hide: (namespace: string) => void done.push(`hide ${namespace}`),
    });
    const history = open();
    await eventually(() => records.followed.length === 2, { what: "both readers" });
    expect(new Set(records.followed.map((from) => from?.sequence))).toEqual(new Set([0, 7]));
    await eventually(() => done.includes("hide gone"), { what: "the removal of a namespace" });
    expect(done[0]).toBe("seed");
    const { complete, lagSeconds } = await history.progress();
    expect([complete, lagSeconds >= 60]).toEqual([false, true]);
    await eventually(
      () => {
        if (filled.isUnderWay) records.add(recordBatch(8, [id]));
        return !filled.isUnderWay;
      },
      { what: "the new history to answer" },
    );
    expect(await history.progress()).toMatchObject({ complete: true });
  });

  test("stops writing when the lease is lost, and begins again with it", async () => {
    open();
    records.add(recordBatch(1, [id]));
    await eventually(() => writer.batches.length === 1, { what: "the first batch" });
    const holder = await takeover();
    await eventually(async () => (await registry.metrics()).includes("history_leader 0"), { what: "the loss" });
    records.add(recordBatch(2, [id]));
    await leases.release("process.history", holder);
    await eventually(() => writer.batches.length === 2, { what: "the next batch" });
    expect(records.followed.map((after) => after?.sequence)).toEqual([undefined, 1]);
  });

  test("tells how far it is, and its gaps", async () => {
    const history = open();
    records.add(recordBatch(1, [id]));
    await eventually(() => writer.batches.length === 1, { what: "the batch" });
    expect(await history.progress()).toEqual({ lagSeconds: 0, complete: true, gaps: [] });
  });

  test("is not complete before anything was read, whatever the time", async () => {
    const history = open();
    await eventually(() => records.followed.length === 1, { what: "the reader" });
    expect(await history.progress()).toMatchObject({ complete: false, gaps: [] });
  });

  test("names its gaps beside, which touch only some of its replies, and says so when they cannot be read", async () => {
    gaps = [gap];
    readingFails = true;
    const history = open();
    records.add(recordBatch(1, [id]));
    await eventually(() => writer.batches.length === 1, { what: "the batch" });
    await expect(history.progress()).rejects.toThrow("the reader is away");
    readingFails = false;
    expect(await history.progress()).toMatchObject({ complete: true, gaps: [gap] });
  });

  test("does one thing at a time with its writer", async () => {
    const history = open();
    await eventually(() => records.followed.length === 1, { what: "the reader" });
    for (let sequence = 1; sequence <= 20; sequence += 1) records.add(recordBatch(sequence, [id]));
    await Promise.all(Array.from({ length: 20 }, () => history.remove(id)));
    await eventually(() => writer.batches.length === 20, { what: "all batches" });
    expect(writer.removed).toHaveLength(20);
    expect(writer.mostAtOnce).toBe(1);
  });

  test("names why nothing can be stored, as long as that is so", async () => {
    writer.failure = new Error("the disk is full");
    const history = open();
    await eventually(() => history.problem === "the disk is full", { what: "the problem" });
    writer.failure = undefined;
    await eventually(() => history.problem === undefined, { what: "its end" });
  });
});

describe("leasesOf()", () => {
  test("gives the lease of a process that died to the one after it", async () => {
    const first = leasesOf(leases, "machine");
    const second = leasesOf(leases, "machine");
    expect(await first.acquire("process.history", "a", 60_000)).toBe(true);
    expect(await second.acquire("process.history", "b", 60_000)).toBe(true);
    expect(await leases.acquire("process.history", "c", 60_000)).toBe(false);
    await second.release("process.history", "b");
    expect(await leases.acquire("process.history", "c", 60_000)).toBe(true);
  });
});

/** Has the lease expire, as if it could not be renewed, and acquires it. */
async function takeover(): Promise<string> {
  const taken = leases.acquire.bind(leases);
  leases.acquire = async (name, holder, duration) => (holder === "thief" ? taken(name, holder, duration) : false);
  return eventually(async () => ((await leases.acquire("process.history", "thief", 60_000)) ? "thief" : undefined), {
    what: "the lease",
  }).finally(() => {
    leases.acquire = taken;
  });
}
