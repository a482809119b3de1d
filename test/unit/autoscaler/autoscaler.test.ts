import { Registry } from "prom-client";
import { afterEach, beforeEach, expect, test } from "vitest";

import { MemoryActivity } from "../../support/memory/memory-activity.ts";
import { MemoryEndpoints } from "../../support/memory/memory-endpoints.ts";
import { MemoryFunctionStore } from "../../support/memory/memory-function-store.ts";
import { MemoryLeases } from "../../support/memory/memory-leases.ts";
import { MemoryUsage } from "../../support/memory/memory-usage.ts";
import { readSettings } from "../../../runtime/settings/read-settings.ts";
import { buildAutoscalerMetrics } from "../../../runtime/autoscaler/autoscaler-metrics.ts";
import { buildAutoscaler, type BuiltAutoscaler } from "../../../runtime/autoscaler/build-autoscaler.ts";
import { autoscalerSettings } from "../../../runtime/autoscaler/settings.ts";
import { reportActivity } from "../../../runtime/core/scaling/activity-reporter.ts";
import { desireFunction } from "../../../runtime/core/functions/desired-function.ts";
import type { HistoryReport } from "../../../runtime/core/ports/history-reports.ts";
import type { QueueDepths, QueueStates } from "../../../runtime/core/ports/queue-states.ts";
import { createLog } from "../../../runtime/process/log.ts";
import { eventually } from "../../support/eventually.ts";

const echo = { namespace: "functions", name: "echo" };
let functions: MemoryFunctionStore;
let endpoints: MemoryEndpoints;
let usage: MemoryUsage;
let leases: MemoryLeases;
let registry: Registry;
let reported: HistoryReport[];
let autoscaler: BuiltAutoscaler;
let endReports: () => void;
let depths: (queue: string) => Promise<QueueDepths>;

beforeEach(async () => {
  functions = new MemoryFunctionStore();
  endpoints = new MemoryEndpoints();
  usage = new MemoryUsage();
  leases = new MemoryLeases();
  depths = async () => ({ byFunction: new Map(), submitted: 0 });
  await openAutoscaler();
});
afterEach(closeAutoscaler);

async function openAutoscaler(): Promise<void> {
  registry = new Registry();
  reported = [];
  const activity = new MemoryActivity();
  const states: QueueStates = { read: async () => undefined, depths: (queue) => depths(queue) };
  autoscaler = buildAutoscaler({
    settings: readSettings(autoscalerSettings, { environment: { scale_period: "50ms", scale_window: "1s" } }),
    functions,
    endpoints,
    activity,
    reports: { publish: (report) => void reported.push(report), subscribe: () => () => {} },
    states,
    leases,
    usage,
    metrics: buildAutoscalerMetrics(registry),
    log: createLog("test", "silent"),
    idleAfter: () => 300,
  });
  await autoscaler.open();
  endReports = reportActivity(activity, "gateway-1", () => []);
}
async function closeAutoscaler(): Promise<void> {
  endReports();
  await autoscaler.close();
}

async function deploy(labels: Record<string, string>, annotations: Record<string, string> = {}): Promise<void> {
  const deployment = { service: "echo", image: "none", labels, annotations };
  await functions.write(echo, (current) => desireFunction(current, "functions", deployment, new Date().toISOString()));
  await endpoints.publish({ ...echo, addresses: ["a:1"], observedGeneration: 1, conditions: [] });
}
const setReplicas = (replicas: number) =>
  functions.write(echo, (current) => {
    if (current === undefined) throw new Error("there is no function");
    return { ...current, replicas };
  });
const replicasAre = (replicas: number) =>
  eventually(async () => (await functions.get(echo))?.replicas === replicas, {
    what: `${replicas} replicas`,
  });
const decided = (reason: string) =>
  eventually(async () => (await registry.metrics()).includes(`autoscaler_functions{reason="${reason}"} 1`), {
    what: `the decision ${reason}`,
  });

test("cpu: replicas follow usage, and stay while it is unknown", async () => {
  usage.set(echo, { cpu: 1_000, totalMemoryBytes: 0 });
  await deploy({ "com.service.scale.type": "cpu", "com.service.scale.target": "500" });
  await replicasAre(3);
  // In one step or in two: the average rises as time passes.
  const scalings = reported.flatMap((report) => (report.kind === "scaling" ? report.scaling : []));
  expect([scalings[0]?.from, scalings.at(-1)?.to]).toEqual([1, 3]);
  expect(scalings[0]).toMatchObject({ ...echo, reason: "LoadRose" });
  usage.remove(echo);
  await decided("load-unknown");
  usage.set(echo, { cpu: 100, totalMemoryBytes: 0 });
  await replicasAre(1);
});

test("queue: replicas follow the calls in the function's queue, and stay while their number is unknown", async () => {
  const queuesRead = new Set<string>();
  let calls: number | undefined = 100;
  depths = async (queue) => {
    queuesRead.add(queue);
    if (calls === undefined) throw new Error("the broker does not say");
    return { byFunction: new Map([["echo.functions", calls]]), submitted: 0 };
  };
  await deploy(
    { "com.service.scale.type": "queue", "com.service.scale.target": "10", "com.service.scale.max": "5" },
    { "com.service.queue": "slow" },
  );
  await replicasAre(5);
  calls = undefined;
  await decided("load-unknown");
  calls = 0;
  await replicasAre(1);
  expect(queuesRead).toEqual(new Set(["slow"]));
});

test("a function with queued calls, or an unknown number of them, is not scaled to zero", async () => {
  let calls: number | undefined = 1;
  let looks = 0;
  depths = async () => {
    looks += 1;
    if (calls === undefined) throw new Error("the broker does not say");
    return { byFunction: new Map([["echo.functions", calls]]), submitted: 0 };
  };
  await deploy({ "com.service.scale.zero": "true" });
  const more = (count: number) => {
    const until = looks + count;
    return eventually(() => looks >= until, { what: "more looks" });
  };
  const held = await eventually(async () => (await functions.get(echo))?.held, { what: "it to be kept" });
  expect(held).toMatchObject({ reason: "CallsQueued", message: "Not scaled to zero: 1 call is queued" });
  await more(40);
  expect((await functions.get(echo))?.replicas).toBe(1);
  calls = undefined;
  await more(20);
  expect((await functions.get(echo))?.replicas).toBe(1);
  calls = 0;
  await replicasAre(0);
  expect((await functions.get(echo))?.scaled).toMatchObject({ reason: "Idle", message: "No call for 300ms" });
  expect(await registry.metrics()).toContain('autoscaler_changes_total{reason="idle"} 1');
  await decided("scaled-to-zero");
});

test("an autoscaler that is not the leader decides and changes nothing; it acts once it leads", async () => {
  await closeAutoscaler();
  await leases.acquire("process.autoscaler", "another", 60_000);
  await openAutoscaler();
  await deploy({ "com.service.scale.min": "3" });
  await setReplicas(1);
  await decided("below-min");
  // Decided in a sweep after that one, which has ended by then.
  await deploy({ "com.service.scale.min": "1" });
  await decided("steady");
  expect(autoscaler.leads).toBe(false);
  expect((await functions.get(echo))?.replicas).toBe(1);

  await leases.release("process.autoscaler", "another");
  await deploy({ "com.service.scale.min": "3" });
  await setReplicas(1);
  await replicasAre(3);
  expect(autoscaler.leads).toBe(true);
});

test("there are no more decisions about a removed function", async () => {
  await deploy({});
  await decided("steady");
  await functions.remove(echo);
  await endpoints.remove(echo);
  await eventually(async () => !(await registry.metrics()).includes("autoscaler_functions{"), {
    what: "no decision",
  });
});
