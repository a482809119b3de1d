import { expect, test } from "vitest";

import type { HistoryReport } from "../../../../runtime/core/ports/history-reports.ts";
import { noteCalls } from "../../../../runtime/history/logs/note-calls.ts";

const point = { namespace: "functions", source: "gateway", at: 10_000 };

test("functions with calls in an interval are told, until it is stopped", () => {
  const listeners = new Set<(report: HistoryReport) => void>();
  const reports = {
    subscribe: (listener: (report: HistoryReport) => void) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
  const stop = new AbortController();
  const seen: string[] = [];
  noteCalls(reports, ({ name }, at) => seen.push(`${name} ${at}`), stop.signal);
  const report: HistoryReport = {
    kind: "rollup",
    points: [
      { ...point, name: "finished", calls: [0, 1, 0, 0, 0] },
      { ...point, name: "running", calls: [0, 0, 0, 0, 0], inFlight: 1 },
      { ...point, name: "idle", calls: [0, 0, 0, 0, 0], inFlight: 0, replicas: 1 },
      { ...point, name: "scaled" },
    ],
  };
  for (const listener of listeners) listener(report);
  for (const listener of listeners) listener({ kind: "sync", calls: [] });
  expect(seen).toEqual(["finished 10000", "running 10000"]);
  stop.abort();
  expect(listeners.size).toBe(0);
  noteCalls(reports, () => {}, stop.signal);
  expect(listeners.size).toBe(0);
});
