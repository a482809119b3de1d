// Counts calls, publishes reports and processes them as gateway, queue-worker and autoscaler do, in a separate process.
// Prints `CountingCosts` as JSON.
import { mock } from "node:test";

import { reportActivity } from "../../runtime/core/scaling/activity-reporter.ts";
import { readFacts } from "../../runtime/core/functions/function-facts.ts";
import { desireFunction } from "../../runtime/core/functions/desired-function.ts";
import type { ActivityReport } from "../../runtime/core/ports/activity.ts";
import type { InvokeOptions, Invoker } from "../../runtime/core/ports/invoker.ts";
import { Scaler } from "../../runtime/core/scaling/scaler.ts";
import { InvocationCounts } from "../../runtime/process/metrics/invocation-counts.ts";
import { CountedInvoker } from "../../runtime/queue-worker/counted-invoker.ts";
import { sampleCall } from "../../test/contract/samples.ts";
import { spreadOf } from "../interleave.ts";
import type { CountingCosts } from "./bench-activity.ts";

const rounds = 7;
const calls = 300_000;
const callsPerReport = 1_000;
const reports = calls / callsPerReport;
const namespace = "functions";
const names = Array.from({ length: 100 }, (_, index) => `counted-${index}`);
const keys = names.map((name) => `${name}.${namespace}`);
const queued = names.map((name) => sampleCall({ function: { namespace, name } }));

/** Accumulates what the loops do, so the compiler cannot eliminate them. */
let done = 0;

function countCall(counts: InvocationCounts, key: string, duration: number): void {
  const seen = counts.of(key);
  const begin = performance.now();
  seen.begin(begin);
  seen.finish(begin + duration, 200, duration);
}
const counts = new InvocationCounts();
function countAsGateway(): void {
  for (let call = 0; call < calls; call += keys.length) for (const key of keys) countCall(counts, key, call % 50);
}
function countNothing(): void {
  for (let call = 0; call < calls; call += keys.length) for (const key of keys) done += key.length + (call % 50);
}

const outcome = Promise.resolve({ kind: "aborted", duration: 1 } as const);
const bare: Invoker = { invoke: () => outcome };
const counted = new CountedInvoker(bare);
const options: InvokeOptions = {
  attempt: 1,
  timeout: 1_000,
  outputLimit: 1,
  signal: new AbortController().signal,
};
async function run(invoker: Invoker): Promise<void> {
  for (let call = 0; call < calls; call += queued.length) {
    for (const each of queued) done += (await invoker.invoke("", each, options)).kind.length;
  }
}

let lastReport = "";
mock.timers.enable({ apis: ["setInterval"] });
const reporting = new InvocationCounts();
reportActivity(
  { publish: (report) => void (lastReport = JSON.stringify(report)), subscribe: () => () => {} },
  "gateway-of-the-bench",
  () => reporting.entries(),
);
const scaler = new Scaler(
  { window: 10_000, silenceTimeout: 300_000, wakeTimeout: 60_000, idleAfter: () => 120_000 },
  0,
);
for (const [index, name] of names.entries()) {
  const wanted = desireFunction(undefined, namespace, { service: name, image: "none" }, new Date(0).toISOString());
  scaler.see(keys[index] ?? "", { wanted, facts: readFacts(wanted.deployment) }, 1, 0);
}
let second = 0;
/** Milliseconds that all reports took to publish, and to process. */
function timeReports(): { readonly published: number; readonly processed: number } {
  let [published, processed] = [0, 0];
  for (let report = 0; report < reports; report += 1) {
    for (let call = 0; call < callsPerReport; call += keys.length) for (const key of keys) countCall(reporting, key, 1);
    second += 1;
    const from = performance.now();
    mock.timers.tick(1_000);
    const publishedAt = performance.now();
    const parsed: ActivityReport = JSON.parse(lastReport);
    scaler.addReport(parsed, second * 1_000);
    published += publishedAt - from;
    processed += performance.now() - publishedAt;
  }
  return { published, processed };
}

async function timeOf(act: () => void | Promise<void>): Promise<number> {
  const from = performance.now();
  await act();
  return performance.now() - from;
}

const measured: CountingCosts[] = [];
const perCall = (milliseconds: number): number => Math.max(0, (milliseconds * 1_000) / calls);
for (let round = 0; round < rounds; round += 1) {
  const gateway = (await timeOf(countAsGateway)) - (await timeOf(countNothing));
  const worker = (await timeOf(() => run(counted))) - (await timeOf(() => run(bare)));
  const { published, processed } = timeReports();
  measured.push({
    gateway: perCall(gateway),
    worker: perCall(worker),
    reporting: perCall(published),
    hearing: perCall(processed),
  });
}
// The first round is a warm-up.
const medianOf = (cost: keyof CountingCosts): number => spreadOf(measured.slice(1).map((each) => each[cost])).median;
const costs: CountingCosts = {
  gateway: medianOf("gateway"),
  worker: medianOf("worker"),
  reporting: medianOf("reporting"),
  hearing: medianOf("hearing"),
};
if (done === 0) throw new Error("nothing was done");
process.stdout.write(JSON.stringify(costs));
