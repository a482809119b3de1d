import { MountedCallbackSecrets } from "../adapters/files/mounted-callback-secrets.ts";
import { HttpCallbackSender } from "../adapters/http/callbacks/http-callback-sender.ts";
import { HttpUpstream } from "../adapters/http/upstream/http-upstream.ts";
import { invokerFor } from "../adapters/http/upstream/invoker-for.ts";
import { clusterConfig, workerCluster } from "../adapters/kubernetes/open-kubernetes.ts";
import { NatsLink } from "../adapters/nats/link/nats-link.ts";
import { machineFunctions, natsOptions, workerBroker } from "../adapters/nats/open-nats.ts";
import { release } from "../api/version.ts";
import { passwordFileRule } from "../process/file-rules.ts";
import { followBroker } from "../process/follow-broker.ts";
import { holdCluster, logClusterState } from "../process/hold-cluster.ts";
import { buildInvocationMetrics } from "../process/metrics/invocation-metrics.ts";
import { start } from "../process/start.ts";
import { brokerUserRule } from "../settings/platform-settings.ts";
import { openQueueWorker } from "./open-queue-worker.ts";
import { senderOptions } from "./sender-options.ts";
import { gatewayInvokeRule, queueWorkerRules, queueWorkerSettings, workerDrainTimeout } from "./settings.ts";
import { buildWorkerMetrics } from "./worker-metrics.ts";

const { settings, log, run } = start({
  name: "queue-worker",
  about: "Runs the queued calls of one queue of Weir.",
  version: release,
  settings: queueWorkerSettings,
  rules: [...queueWorkerRules, gatewayInvokeRule, brokerUserRule, passwordFileRule],
});
const inbox = `_INBOX.wk-${settings.queue}`;
const { replicas, ...callbacks } = senderOptions(settings);
await run({
  drainTimeout: workerDrainTimeout(settings),
  open: async (parts) => {
    const { lifecycle, admin } = parts;
    const link = NatsLink.begin(natsOptions(settings, `queue-worker-${settings.queue}`, inbox));
    lifecycle.onClose("broker", () => link.close());
    followBroker(parts, [link.state]);
    await link.opened;
    const upstream = new HttpUpstream();
    lifecycle.onClose("upstream", () => upstream.close());
    const sender = new HttpCallbackSender(callbacks);
    lifecycle.onClose("callback sender", () => sender.close());
    const worker = await openQueueWorker({
      settings,
      ...workerBroker(link, inbox),
      ...(settings.provider === "kubernetes"
        ? holdCluster(parts, workerCluster(await clusterConfig(settings), settings, logClusterState(log)))
        : machineFunctions(link)),
      replicas,
      slots: ({ maxInflight }) => maxInflight,
      ...invokerFor(upstream, settings),
      onGone: (address) => upstream.release(address),
      sender,
      callbackSecrets: new MountedCallbackSecrets(settings.secretMountPath),
      metrics: buildWorkerMetrics(admin.registry),
      invocations: buildInvocationMetrics(admin.registry),
      log,
    });
    lifecycle.onClose("queue-worker", () => worker.close());
    return { facts: { queue: settings.queue } };
  },
});
