import { autoscalerCluster, clusterConfig } from "../adapters/kubernetes/open-kubernetes.ts";
import { NatsLink } from "../adapters/nats/link/nats-link.ts";
import { autoscalerBroker, machineFunctions, natsOptions } from "../adapters/nats/open-nats.ts";
import { release } from "../api/version.ts";
import { passwordFileRule } from "../process/file-rules.ts";
import { followBroker } from "../process/follow-broker.ts";
import { holdCluster, logClusterState } from "../process/hold-cluster.ts";
import { start } from "../process/start.ts";
import { brokerUserRule } from "../settings/platform-settings.ts";
import { buildAutoscalerMetrics } from "./autoscaler-metrics.ts";
import { buildAutoscaler } from "./build-autoscaler.ts";
import { autoscalerRules, autoscalerSettings } from "./settings.ts";

const { settings, log, run } = start({
  name: "autoscaler",
  about: "Makes replicas of functions follow their load, to zero and back; leader-elected.",
  version: release,
  settings: autoscalerSettings,
  rules: [...autoscalerRules, brokerUserRule, passwordFileRule],
});

await run({
  drainTimeout: 10_000,
  open: async (parts) => {
    const { lifecycle, admin } = parts;
    const link = NatsLink.begin(natsOptions(settings, "autoscaler", "_INBOX.as"));
    lifecycle.onClose("broker", () => link.close());
    followBroker(parts, [link.state]);
    await link.opened;

    const autoscaler = buildAutoscaler({
      settings,
      ...autoscalerBroker(link),
      // On Kubernetes the lease is in the cluster, too, as that is what the leader acts on.
      ...(settings.provider === "kubernetes"
        ? holdCluster(parts, autoscalerCluster(await clusterConfig(settings), settings, logClusterState(log)))
        : machineFunctions(link)),
      metrics: buildAutoscalerMetrics(admin.registry),
      log,
    });
    lifecycle.onClose("autoscaler", () => autoscaler.close());
    await autoscaler.open();
  },
});
