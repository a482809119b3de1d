import { beforeEach, describe, expect, test } from "vitest";

import { desireFunction, type DesiredFunction } from "../../../../../runtime/core/functions/desired-function.ts";
import {
  scalingReportOf,
  withScalingReports,
} from "../../../../../runtime/core/history/reports/scaling-report-store.ts";
import type { FunctionStore } from "../../../../../runtime/core/ports/function-store.ts";
import type { HistoryReport } from "../../../../../runtime/core/ports/history-reports.ts";
import { applyHeld, applyScale } from "../../../../../runtime/core/scaling/apply-scale.ts";
import { scaleByAlert } from "../../../../../runtime/core/scaling/scale-by-alert.ts";
import { scaleFunction } from "../../../../../runtime/core/scaling/scale-function.ts";
import { wakeReplicas } from "../../../../../runtime/core/scaling/wake-replicas.ts";
import { MemoryFunctionStore } from "../../../../support/memory/memory-function-store.ts";

const ref = { namespace: "functions", name: "pay" };
const deployment = { service: "pay", image: "pay:1", labels: { "com.service.scale.max": "10" } };
const minute = 60_000;
const now = 1_767_225_600_000;

let published: HistoryReport[];
let functions: FunctionStore;

const deploy = (over: Partial<typeof deployment> = {}): Promise<DesiredFunction> =>
  functions.write(ref, (current) =>
    desireFunction(current, "functions", { ...deployment, ...over }, "2026-01-01T00:00:00Z"),
  );

/** The scalings so far. */
const scalings = () => published.map((report) => (report.kind === "scaling" ? report.scaling : report.kind));

beforeEach(async () => {
  published = [];
  functions = withScalingReports(new MemoryFunctionStore(), { publish: (report) => published.push(report) });
  await deploy();
});

describe("withScalingReports()", () => {
  test("reports what a request, an alert, the first call and the autoscaler set", async () => {
    await scaleFunction(functions, ref, 0, minute, () => now);
    await wakeReplicas(functions, ref, () => now + 1);
    await scaleByAlert(functions, ref, "firing", () => now + 2);
    const seen = await functions.get(ref);
    if (seen === undefined) throw new Error("there is no function");
    const decision = { action: "scale", replicas: 5, because: "load-rose", message: "the load rose" } as const;
    expect(await applyScale(functions, seen, decision, () => now + 3)).toBe(true);
    expect(scalings()).toEqual([
      { ...ref, at: now, from: 1, to: 0, reason: "Requested", message: "Scaled to 0 by request" },
      { ...ref, at: now + 1, from: 0, to: 1, reason: "Woken", message: "A call came while it was scaled to zero" },
      { ...ref, at: now + 2, from: 1, to: 3, reason: "Alert", message: "An alert is firing" },
      { ...ref, at: now + 3, from: 3, to: 5, reason: "LoadRose", message: "the load rose" },
    ]);
  });

  test("reports no deployment, no note, and no count that stays as it is", async () => {
    await scaleFunction(functions, ref, 5, minute, () => now);
    published = [];
    await scaleFunction(functions, ref, 5, minute, () => now + 1);
    await deploy({ labels: { "com.service.scale.max": "2" } });
    const seen = await functions.get(ref);
    if (seen === undefined) throw new Error("there is no function");
    await applyHeld(functions, seen, { reason: "OnHold", message: "held", at: new Date(now).toISOString() });
    await wakeReplicas(functions, ref);
    await functions.remove(ref);
    expect(scalings()).toEqual([]);
  });

  test("reports nothing that was not written", async () => {
    await expect(scaleFunction(functions, ref, 11, minute)).rejects.toThrow("allows 10");
    await expect(scaleFunction(functions, { ...ref, name: "gone" }, 1, minute)).rejects.toThrow("gone");
    expect(scalings()).toEqual([]);
  });

  test("reports what was written in the end, if the function changed meanwhile", async () => {
    const inner = new MemoryFunctionStore();
    const write = inner.write.bind(inner);
    let conflicts = 1;
    inner.write = (one, change) =>
      write(one, (current) => {
        const wanted = change(current);
        if (current === undefined || conflicts-- <= 0) return wanted;
        return change({ ...current, replicas: 4 });
      });
    functions = withScalingReports(inner, { publish: (report) => published.push(report) });
    await deploy();
    await scaleFunction(functions, ref, 6, minute, () => now);
    expect(scalings()).toMatchObject([{ from: 4, to: 6 }]);
  });

  test("leaves the store as it is where nothing is reported", () => {
    const store = new MemoryFunctionStore();
    expect(withScalingReports(store, undefined)).toBe(store);
  });
});

describe("scalingReportOf()", () => {
  const scaled = { reason: "LoadRose", message: "the load rose", at: new Date(now).toISOString() };

  test("is no scaling where a function was created, with whatever count", async () => {
    expect(scalingReportOf(undefined, { ...(await deploy()), replicas: 4, scaled })).toBeUndefined();
  });

  test("is no scaling where a deployment changed the count, and left the reason of the last scaling", async () => {
    const before = { ...(await deploy()), replicas: 4, scaled };
    expect(scalingReportOf(before, { ...before, replicas: 2 })).toBeUndefined();
    const later = { ...scaled, at: new Date(now + 1).toISOString() };
    expect(scalingReportOf(before, { ...before, replicas: 2, scaled: later })).toMatchObject({ from: 4, to: 2 });
  });
});
