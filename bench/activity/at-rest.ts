// Runs the autoscaler with default settings in a separate process, so the CPU time of the process is the autoscaler's.
// Arguments: the broker's URL and the number of functions. Prints `RestCosts` as JSON.
import { setTimeout as pause } from "node:timers/promises";

import { Registry } from "prom-client";

import { NatsLink } from "../../runtime/adapters/nats/link/nats-link.ts";
import { autoscalerAdapters } from "../../runtime/adapters/nats/open-nats.ts";
import { readSettings } from "../../runtime/settings/read-settings.ts";
import { buildAutoscalerMetrics } from "../../runtime/autoscaler/autoscaler-metrics.ts";
import { buildAutoscaler } from "../../runtime/autoscaler/build-autoscaler.ts";
import { autoscalerSettings } from "../../runtime/autoscaler/settings.ts";
import { createLog } from "../../runtime/process/log.ts";
import { until } from "../queue/bench-platform.ts";
import type { RestCosts } from "./bench-activity.ts";

/** Measured sweeps, one every 2 s: enough for a steady figure; and warm-up sweeps before them. */
const [rounds, warmUp] = [10, 5];
const [url = "", count = "0"] = process.argv.slice(2);

const settings = readSettings(autoscalerSettings, {});
const link = await NatsLink.open({
  url,
  name: "bench-autoscaler",
  user: undefined,
  password: undefined,
  inboxPrefix: "_INBOX.rest",
  pingInterval: settings.natsPingInterval,
});
const metrics = buildAutoscalerMetrics(new Registry());
const autoscaler = buildAutoscaler({
  settings,
  ...autoscalerAdapters(link),
  metrics,
  log: createLog("bench", "error"),
});
await autoscaler.open();
const decided = async (): Promise<number> =>
  (await metrics.functions.get()).values.reduce((sum, { value }) => sum + value, 0);
await until(async () => autoscaler.leads && (await decided()) > Number(count), "decisions about all functions", 500);
await pause(warmUp * settings.scalePeriod);

const from = { cpu: process.cpuUsage(), at: performance.now() };
let sweep = Infinity;
for (let round = 0; round < rounds; round += 1) {
  await pause(settings.scalePeriod);
  sweep = Math.min(sweep, ((await metrics.sweep.get()).values[0]?.value ?? Infinity) * 1_000);
}
const { user, system } = process.cpuUsage(from.cpu);
const costs: RestCosts = { share: (user + system) / 1_000 / (performance.now() - from.at), sweep };
process.stdout.write(JSON.stringify(costs));
await autoscaler.close();
await link.close();
