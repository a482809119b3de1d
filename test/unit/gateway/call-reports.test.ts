import { Registry } from "prom-client";
import { beforeEach, describe, expect, test } from "vitest";

import { desireFunction } from "../../../runtime/core/functions/desired-function.ts";
import { presence } from "../../../runtime/core/history/rollups/presence.ts";
import type { HistoryReport } from "../../../runtime/core/ports/history-reports.ts";
import { FunctionTable } from "../../../runtime/core/replicas/function-table.ts";
import { buildCallReports, type CallReportsParts } from "../../../runtime/gateway/call-reports.ts";
import type { CallFacts } from "../../../runtime/gateway/calls/call-facts.ts";

const key = "echo.functions";

let published: HistoryReport[];
let table: FunctionTable;
let registry: Registry;

beforeEach(() => {
  published = [];
  registry = new Registry();
  table = new FunctionTable({ defaultNamespace: "functions", aliases: [] });
  deploy("echo", ["a:1", "b:1"]);
  deploy("idle", []);
});

function deploy(service: string, addresses: readonly string[]): void {
  table.functionObserver.set(desireFunction(undefined, "functions", { service, image: "none" }, ""));
  const conditions = [] as const;
  table.endpointsObserver.set({ namespace: "functions", name: service, addresses, observedGeneration: 1, conditions });
}

const build = (over: Partial<CallReportsParts> = {}) =>
  buildCallReports({
    reports: { publish: (report) => void published.push(report), subscribe: () => () => {} },
    settings: { historySyncSample: 1 },
    source: "gateway-1",
    table,
    registry,
    ...over,
  });

/** An ended call of `echo`, as far as it matters whether it is kept. */
function factsOf(number: number): Pick<CallFacts, "exchange" | "callId" | "entry"> {
  const exchange = { method: "GET", head: { fromWorker: false } } as CallFacts["exchange"];
  const callId = `00000000-0000-4000-8000-${String(number).padStart(12, "0")}`;
  return { exchange, callId, entry: table.findKey(key) };
}
const end = (status: number) => ({ status, duration: 3, bytesIn: 0, bytesOut: 0, replica: "a:1" });

describe("buildCallReports()", () => {
  test("reports calls and replicas of functions, and the calls that are kept", () => {
    const { counts, keep, open } = build();
    const close = open();
    counts.of(key).begin(0);
    counts.of(key).finish(0, 500, 3, true);
    keep?.(factsOf(1), end(500));
    close();
    const ref = { namespace: "functions", name: "echo" };
    const counted = { source: "gateway-1", at: expect.any(Number) as number };
    expect(published).toEqual([
      {
        kind: "sync",
        calls: [expect.objectContaining({ ...ref, id: factsOf(1).callId, status: 500, replica: "a:1" })],
      },
      {
        kind: "rollup",
        points: [
          { ...presence, ...counted, calls: [0, 0, 0, 0, 0], coldStarts: 0 },
          {
            ...ref,
            ...counted,
            calls: [0, 0, 0, 0, 1],
            coldStarts: 1,
            durations: [10, 1],
            inFlight: 0,
            replicas: 2,
          },
        ],
      },
    ]);
  });

  test("counts a function that was deployed anew from 0", () => {
    const { counts, open } = build();
    const close = open();
    counts.of(key).finish(0, 200, 3);
    table.functionObserver.removed({ namespace: "functions", name: "echo" });
    counts.forget(key);
    deploy("echo", ["a:1"]);
    counts.of(key).begin(0);
    close();
    expect(published).toMatchObject([
      { points: [presence, { name: "echo", calls: [0, 0, 0, 0, 0], inFlight: 1, replicas: 1 }] },
    ]);
  });

  test("shows in a metric how many calls found no room", async () => {
    const { keep } = build();
    expect(await registry.metrics()).toContain("gateway_history_skipped_total 0");
    for (let number = 0; number < 60; number += 1) keep?.(factsOf(number), end(503));
    expect(await registry.metrics()).toContain("gateway_history_skipped_total 10");
  });

  test("counts, but keeps and reports nothing without a history", async () => {
    const { counts, keep, open } = build({ reports: undefined });
    const close = open();
    counts.of(key).begin(0);
    counts.of(key).finish(0, 200, 3);
    close();
    expect([counts.finished(key), keep, published]).toEqual([1, undefined, []]);
    expect(await registry.metrics()).not.toContain("history");
  });
});
