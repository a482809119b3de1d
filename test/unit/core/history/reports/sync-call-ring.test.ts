import { describe, expect, test } from "vitest";

import { reportSyncCalls } from "../../../../../runtime/core/history/reports/report-sync-calls.ts";
import type { SyncCallKind } from "../../../../../runtime/core/history/reports/choose-sync-call.ts";
import { SyncCallRing, type EndedSyncCall } from "../../../../../runtime/core/history/reports/sync-call-ring.ts";
import type { HistoryReport } from "../../../../../runtime/core/ports/history-reports.ts";
import { eventually } from "../../../../support/eventually.ts";
import { useJumpingClock } from "../../../../support/use-jumping-clock.ts";

useJumpingClock();

const ref = { namespace: "functions", name: "pay" };
const idOf = (number: number): string => `00000000-0000-4000-8000-${String(number).padStart(12, "0")}`;
const call = (number: number, over: Partial<EndedSyncCall> = {}): EndedSyncCall => ({
  id: idOf(number),
  ref,
  method: "POST",
  status: 503,
  startedAt: 1_767_225_600_000 + number,
  duration: 1.234_567,
  replica: undefined,
  coldStart: undefined,
  ...over,
});

function fill(ring: SyncCallRing, kind: SyncCallKind, count: number): number {
  for (let number = 0; number < count; number += 1) ring.add(kind, call(number));
  return ring.skipped;
}

describe("SyncCallRing", () => {
  test("gives back what was added, in order, once", () => {
    const ring = new SyncCallRing();
    ring.add("noted", call(1));
    ring.add("each", call(2, { status: 200, method: "GET", replica: "127.0.0.1:9001", coldStart: 0.000_4 }));
    const taken = [
      { ...ref, id: idOf(1), method: "POST", status: 503, startedAt: 1_767_225_600_001, duration: 1.235 },
      {
        ...ref,
        id: idOf(2),
        method: "GET",
        status: 200,
        startedAt: 1_767_225_600_002,
        duration: 1.235,
        replica: "127.0.0.1:9001",
        coldStart: 0,
      },
    ];
    expect(ring.take()).toStrictEqual(taken);
    expect(ring.take()).toEqual([]);
    ring.add("noted", call(3));
    expect(ring.take()).toStrictEqual([
      { ...ref, id: idOf(3), method: "POST", status: 503, startedAt: 1_767_225_600_003, duration: 1.235 },
    ]);
  });

  test("tells a replica that started in no time from one that was ready", () => {
    const ring = new SyncCallRing();
    ring.add("noted", call(1, { coldStart: 0 }));
    ring.add("noted", call(2));
    expect(ring.take().map(({ coldStart }) => coldStart)).toEqual([0, undefined]);
  });

  test("keeps no method that a client made up", () => {
    const ring = new SyncCallRing();
    ring.add("noted", call(1, { method: "UNSUBSCRIBE" }));
    ring.add("noted", call(2, { method: "SECRET-OF-MINE" }));
    for (const length of [12, 13]) ring.add("noted", call(length, { method: "M".repeat(length) }));
    expect(ring.take().map(({ method }) => method)).toEqual(["UNSUBSCRIBE", "other", "MMMMMMMMMMMM", "other"]);
  });

  test("has room for 50 calls, of which 25 are sampled, beside 1 000 of functions that keep each; it counts the rest", () => {
    const ring = new SyncCallRing();
    expect(fill(ring, "sampled", 30)).toBe(5);
    expect(fill(ring, "noted", 30)).toBe(10);
    expect(fill(ring, "sampled", 1)).toBe(11);
    expect(fill(ring, "each", 970)).toBe(11);
    expect(ring.take()).toHaveLength(1_020);
    expect(fill(ring, "noted", 60)).toBe(21);
    expect(fill(ring, "each", 1_010)).toBe(21 + 36);
    expect(ring.take()).toHaveLength(1_024);
    expect(fill(ring, "each", 1_010)).toBe(57 + 10);
    expect(ring.take()).toHaveLength(1_000);
  });
});

describe("reportSyncCalls()", () => {
  test("publishes what the ring holds, in messages of 250, and the last calls at its end", async () => {
    const ring = new SyncCallRing();
    const published: HistoryReport[] = [];
    const end = reportSyncCalls({ publish: (report) => published.push(report) }, ring);
    fill(ring, "each", 600);
    await eventually(() => published.length === 3, { what: "three messages" });
    expect(published.map((report) => report.kind === "sync" && report.calls.length)).toEqual([250, 250, 100]);
    fill(ring, "noted", 1);
    end();
    expect(published[3]).toMatchObject({ kind: "sync", calls: [{ id: idOf(0) }] });
    end();
    expect(published).toHaveLength(4);
  });

  test("publishes nothing after its end", async () => {
    const [ring, other] = [new SyncCallRing(), new SyncCallRing()];
    const published: HistoryReport[] = [];
    const later: HistoryReport[] = [];
    reportSyncCalls({ publish: (report) => published.push(report) }, ring)();
    fill(ring, "noted", 1);
    const end = reportSyncCalls({ publish: (report) => later.push(report) }, other);
    fill(other, "noted", 1);
    await eventually(() => later.length === 1, { what: "what another one publishes" });
    end();
    expect(published).toEqual([]);
  });
});
