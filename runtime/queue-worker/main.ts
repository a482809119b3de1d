import type { Registry } from "prom-client";

import { HttpCallbackSender } from "../adapters/http/callbacks/http-callback-sender.ts";
import { invokerFor } from "../adapters/http/upstream/invoker-for.ts";
import { HttpUpstream } from "../adapters/http/upstream/http-upstream.ts";
import { NatsLink } from "../adapters/nats/link/nats-link.ts";
import { clusterConfig, workerCluster } from "../adapters/kubernetes/open-kubernetes.ts";
import { machineFunctions, natsOptions, workerBroker } from "../adapters/nats/open-nats.ts";
import { brokerUserRule, clusterGatewayUrl } from "../settings/platform-settings.ts";
import { flagsOf } from "../settings/read-settings.ts";
import { startSettings } from "../settings/start-settings.ts";
import { release } from "../api/version.ts";
import { enginePorts, gatewayOrigins, portsOf } from "../core/callbacks/callback-origins.ts";
import { openAdminServer } from "../process/admin-server.ts";
import { followBroker } from "../process/follow-broker.ts";
import { logClusterNews } from "../process/cluster-news.ts";
import { readCommandLine } from "../process/command-line.ts";
import { passwordFileRule } from "../process/file-rules.ts";
import { buildInvocationMetrics } from "../process/metrics/invocation-metrics.ts";
import { createLog } from "../process/log.ts";
import type { Lifecycle } from "../process/lifecycle.ts";
import { readOrExit } from "../process/read-or-exit.ts";
import { dockerHost, ownAddresses } from "../process/machine-facts.ts";
import { runService } from "../process/run-service.ts";
import { registerWatchAge } from "../process/watch-age.ts";
import { environment, readConfigFile } from "../process/settings.ts";
import { openQueueWorker } from "./open-queue-worker.ts";
import {
  callbackHeadTimeout,
  gatewayInvokeRule,
  queueWorkerRules,
  queueWorkerSettings,
  workerDrainTimeout,
} from "./settings.ts";
import { buildWorkerMetrics } from "./worker-metrics.ts";

const typed = readCommandLine(
  {
    name: "queue-worker",
    about: "Runs the queued calls of one queue of Weir.",
    version: release,
    flags: flagsOf(queueWorkerSettings),
  },
  process.argv.slice(2),
);
const { settings, warnings } = readOrExit(() =>
  startSettings(queueWorkerSettings, {
    typed,
    environment: environment(),
    readFile: readConfigFile,
    rules: [...queueWorkerRules, gatewayInvokeRule, brokerUserRule, passwordFileRule],
    sharedFile: true,
  }),
);
const log = createLog("queue-worker", settings.logLevel);
for (const warning of warnings) log.warn(warning);
const inbox = `_INBOX.wk-${settings.queue}`;

await runService({
  log,
  drainTimeout: () => workerDrainTimeout(settings),
  open: async (lifecycle) => {
    const admin = await openAdminServer({ host: settings.adminHost, port: settings.adminPort });
    lifecycle.onClose("admin server", () => admin.close());

    const link = NatsLink.begin(natsOptions(settings, `queue-worker-${settings.queue}`, inbox));
    lifecycle.onClose("broker", () => link.close());
    followBroker({ admin, log }, [link.trouble]);
    await link.opened;

    const upstream = new HttpUpstream();
    lifecycle.onClose("upstream", () => upstream.close());
    const sender = new HttpCallbackSender({
      rules: {
        policy: settings.callbackPolicy,
        allow: settings.callbackAllow,
        gatewayOrigins: gatewayOrigins({
          ...settings,
          clusterGatewayUrl: clusterGatewayUrl(settings),
          publicUrls: [settings.gatewayUrl],
        }),
        closedPorts: [settings.adminPort, ...portsOf(settings.natsUrl), ...enginePorts(dockerHost())],
        ownAddresses: ownAddresses(),
      },
      gatewayOrigin: settings.gatewayUrl,
      headTimeout: callbackHeadTimeout(settings),
      timeout: settings.callbackTimeout,
    });
    lifecycle.onClose("callback sender", () => sender.close());

    const worker = await openQueueWorker({
      settings,
      ...workerBroker(link, inbox),
      ...(settings.provider === "kubernetes" ? await openCluster(lifecycle, admin.registry) : machineFunctions(link)),
      slots: (queue) => queue.maxInflight,
      ...invokerFor(upstream, settings),
      onGone: (address) => upstream.forget(address),
      sender,
      metrics: buildWorkerMetrics(admin.registry),
      invocations: buildInvocationMetrics(admin.registry),
      log,
    });
    lifecycle.onClose("queue-worker", () => worker.close());
    log.info({ queue: settings.queue, adminPort: admin.port }, "queue-worker is ready");
    admin.ready();
    lifecycle.onClose("readiness", () => admin.drain());
  },
});

async function openCluster(lifecycle: Lifecycle, registry: Registry) {
  const { close, watched, ...functions } = workerCluster(await clusterConfig(settings), settings, logClusterNews(log));
  lifecycle.onClose("API server", close);
  registerWatchAge(registry, watched);
  return functions;
}
