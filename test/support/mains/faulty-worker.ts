import { MountedCallbackSecrets } from "../../../runtime/adapters/files/mounted-callback-secrets.ts";
import { HttpCallbackSender } from "../../../runtime/adapters/http/callbacks/http-callback-sender.ts";
import { HttpInvoker } from "../../../runtime/adapters/http/upstream/http-invoker.ts";
import { HttpUpstream } from "../../../runtime/adapters/http/upstream/http-upstream.ts";
import { NatsLink } from "../../../runtime/adapters/nats/link/nats-link.ts";
import { natsOptions, workerAdapters } from "../../../runtime/adapters/nats/open-nats.ts";
import { openAdminServer } from "../../../runtime/process/admin-server.ts";
import { buildInvocationMetrics } from "../../../runtime/process/metrics/invocation-metrics.ts";
import { createLog } from "../../../runtime/process/log.ts";
import { runService } from "../../../runtime/process/run-service.ts";
import { openQueueWorker } from "../../../runtime/queue-worker/open-queue-worker.ts";
import { callbackHeadTimeout, queueWorkerSettings } from "../../../runtime/queue-worker/settings.ts";
import { buildWorkerMetrics } from "../../../runtime/queue-worker/worker-metrics.ts";
import { faultyCallbackQueue, faultyCallLedger, faultyDeadLetters, faultyDeliverySource } from "../port-faults.ts";
import { plannedStart } from "./planned-start.ts";

/** A queue-worker whose ports fail according to a plan, its last argument. */
const { plan, settings } = plannedStart(queueWorkerSettings);
const log = createLog("queue-worker", settings.logLevel);
const inbox = `_INBOX.wk-${settings.queue}`;

await runService({
  log,
  drainTimeout: () => 20_000,
  open: async (lifecycle) => {
    const admin = await openAdminServer({ ...settings, host: settings.adminHost, port: settings.adminPort });
    lifecycle.onClose("admin server", () => admin.close());
    const link = await NatsLink.open(natsOptions(settings, "faulty worker", inbox));
    lifecycle.onClose("broker", () => link.close());
    const upstream = new HttpUpstream();
    lifecycle.onClose("upstream", () => upstream.close());
    const sender = new HttpCallbackSender({
      rules: { policy: "any", allow: [], gatewayOrigins: [], closedPorts: [] },
      gatewayOrigin: undefined,
      headTimeout: callbackHeadTimeout(settings),
      timeout: settings.callbackTimeout,
    });
    lifecycle.onClose("callback sender", () => sender.close());
    const adapters = workerAdapters(link, inbox);
    const worker = await openQueueWorker({
      settings,
      ...adapters,
      openLedger: (times) => faultyCallLedger(adapters.openLedger(times), plan),
      callbacks: faultyCallbackQueue(adapters.callbacks, plan),
      deadLetters: faultyDeadLetters(adapters.deadLetters, plan),
      openDeliveries: (queue) => faultyDeliverySource(adapters.openDeliveries(queue), plan),
      openCallbacks: (queue, ackWait) => faultyDeliverySource(adapters.openCallbacks(queue, ackWait), plan),
      slots: (queue) => queue.maxInflight,
      invoker: new HttpInvoker(upstream),
      sender,
      callbackSecrets: new MountedCallbackSecrets(settings.secretMountPath),
      metrics: buildWorkerMetrics(admin.registry),
      invocations: buildInvocationMetrics(admin.registry),
      log,
    });
    lifecycle.onClose("queue-worker", () => worker.close());
    log.info({ queue: settings.queue, adminPort: admin.port, seed: plan.seed }, "queue-worker is ready");
    admin.ready();
  },
});
