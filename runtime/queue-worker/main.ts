import { HttpCallbackSender } from "../adapters/http/http-callback-sender.ts";
import { HttpInvoker } from "../adapters/http/http-invoker.ts";
import { UndiciUpstream } from "../adapters/http/undici-upstream.ts";
import { NatsCallbackQueue } from "../adapters/nats/nats-callback-queue.ts";
import { NatsDeadLetters } from "../adapters/nats/nats-dead-letters.ts";
import { NatsEndpoints } from "../adapters/nats/nats-endpoints.ts";
import { NatsFunctionStore } from "../adapters/nats/nats-function-store.ts";
import { NatsLink } from "../adapters/nats/nats-link.ts";
import { NatsQueueCatalog } from "../adapters/nats/nats-queue-catalog.ts";
import { brokerTrouble, callAdapters, natsOptions } from "../adapters/nats/open-nats.ts";
import { callbackSource, callSource } from "../adapters/nats/worker-sources.ts";
import { clusterGatewayUrl } from "../api/platform-settings.ts";
import { flagsOf, startSettings } from "../api/read-settings.ts";
import { release } from "../api/version.ts";
import { gatewayOrigins, portsOf } from "../core/callback-origins.ts";
import { openAdminServer } from "../process/admin-server.ts";
import { readCommandLine } from "../process/command-line.ts";
import { createLog } from "../process/log.ts";
import { runService } from "../process/run-service.ts";
import { environment, readConfigFile } from "../process/settings.ts";
import { openQueueWorker } from "./open-queue-worker.ts";
import { queueWorkerSettings, workerDrainTimeout } from "./settings.ts";

const flags = readCommandLine(
  {
    name: "queue-worker",
    about: "Runs the queued calls of one queue of Weir.",
    version: release,
    flags: flagsOf(queueWorkerSettings),
  },
  process.argv.slice(2),
);
const settings = startSettings(queueWorkerSettings, { flags, environment: environment(), readFile: readConfigFile });
const log = createLog("queue-worker", settings.logLevel);
let drainTimeout = workerDrainTimeout({ timeout: settings.upstreamTimeout });
const inbox = `_INBOX.wk-${settings.queue}`;

await runService({
  log,
  drainTimeout: () => drainTimeout,
  open: async (lifecycle) => {
    const admin = await openAdminServer({ host: settings.adminHost, port: settings.adminPort });
    lifecycle.onClose("admin server", () => admin.close());

    const link = await NatsLink.open(natsOptions(settings, `queue-worker-${settings.queue}`, inbox));
    lifecycle.onClose("broker", () => link.close());
    admin.addCheck(() => brokerTrouble(link));

    const upstream = new UndiciUpstream();
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
        closedPorts: [settings.adminPort, ...portsOf(settings.natsUrl)],
      },
      gatewayOrigin: settings.gatewayUrl,
      headTimeout: settings.callbackTimeout / 3,
      timeout: settings.callbackTimeout,
    });
    lifecycle.onClose("callback sender", () => sender.close());

    const worker = await openQueueWorker({
      settings,
      ...callAdapters(link),
      catalog: await NatsQueueCatalog.open(link),
      functions: await NatsFunctionStore.open(link),
      endpoints: await NatsEndpoints.open(link),
      callbacks: new NatsCallbackQueue(link),
      deadLetters: new NatsDeadLetters(link),
      openDeliveries: (queue) => callSource(link, queue.name, queue.ackWait, inbox),
      openCallbacks: (queue) => callbackSource(link, queue.name, queue.ackWait, inbox),
      slots: (queue) => queue.maxInflight,
      invoker: new HttpInvoker(upstream),
      sender,
      registry: admin.registry,
      reconnects: () => link.reconnects,
      log,
    });
    lifecycle.onClose("queue-worker", () => worker.close());
    drainTimeout = workerDrainTimeout(worker.queue);
    log.info({ queue: settings.queue, adminPort: admin.port }, "queue-worker is ready");
    admin.ready();
    lifecycle.onClose("readiness", () => admin.drain());
  },
});
