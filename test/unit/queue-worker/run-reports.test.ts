import { beforeEach, describe, expect, test } from "vitest";

import { desireFunction } from "../../../runtime/core/functions/desired-function.ts";
import type { HistoryReport } from "../../../runtime/core/ports/history-reports.ts";
import { FunctionTable } from "../../../runtime/core/replicas/function-table.ts";
import { buildRunReports, type RunReportsParts } from "../../../runtime/queue-worker/run-reports.ts";

const ref = { namespace: "functions", name: "echo" };
const key = "echo.functions";

let published: HistoryReport[];
let table: FunctionTable;

beforeEach(() => {
  published = [];
  table = new FunctionTable({ defaultNamespace: "functions", aliases: [] });
  deploy();
});

function deploy(): void {
  table.functionObserver.set(desireFunction(undefined, "functions", { service: "echo", image: "none" }, ""));
  table.endpointsObserver.set({ ...ref, addresses: ["a:1", "b:1"], observedGeneration: 1, conditions: [] });
}

function build(over: Partial<RunReportsParts> = {}) {
  const { counts, open } = buildRunReports({
    reports: { publish: (report) => void published.push(report), subscribe: () => () => {} },
    source: "queue-worker-1",
    queue: "default",
    states: { depths: async () => ({ byFunction: new Map(), submitted: 0 }) },
    table,
    counting: true,
    ...over,
  });
  const run = (status: number): void => {
    counts?.of(key).begin(0);
    counts?.of(key).finish(20, status, 20, status === 503);
  };
  return { counts, run, end: open() };
}

describe("buildRunReports()", () => {
  test("reports the runs of this queue-worker, with the replicas that it knows", () => {
    const { counts, run, end } = build();
    run(200);
    run(503);
    counts?.of(key).begin(0);
    end();
    expect(published).toEqual([
      {
        kind: "rollup",
        points: [
          {
            ...ref,
            source: "queue-worker-1",
            at: expect.any(Number),
            calls: [0, 1, 0, 0, 1],
            coldStarts: 1,
            durations: [21, 2],
            inFlight: 1,
            replicas: 2,
          },
        ],
      },
    ]);
  });

  test("reports nothing of replicas that only change, and counts no runs where the gateway does", () => {
    const { counts, end } = build({ counting: false });
    table.endpointsObserver.set({ ...ref, addresses: [], observedGeneration: 1, conditions: [] });
    end();
    expect([counts, published]).toEqual([undefined, []]);
  });

  test("counts a function that was deployed anew from 0", () => {
    const { counts, run, end } = build();
    run(200);
    table.functionObserver.removed(ref);
    counts?.forget(key);
    deploy();
    run(200);
    run(200);
    end();
    expect(published).toMatchObject([{ points: [{ calls: [0, 2, 0, 0, 0] }] }]);
  });

  test("counts, but reports nothing without a history", () => {
    const { counts, run, end } = build({ reports: undefined });
    run(200);
    end();
    expect([counts?.finished(key), published]).toEqual([1, []]);
  });
});
