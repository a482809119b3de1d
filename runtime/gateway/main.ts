import { FileSecretStore } from "../adapters/files/file-secret-store.ts";
import { HttpUpstream } from "../adapters/http/upstream/http-upstream.ts";
import { clusterConfig, gatewayCluster } from "../adapters/kubernetes/open-kubernetes.ts";
import { LocalLogSource } from "../adapters/machine/local/logs/local-log-source.ts";
import { NatsLink } from "../adapters/nats/link/nats-link.ts";
import { gatewayBroker, machineHome, natsOptions } from "../adapters/nats/open-nats.ts";
import { release } from "../api/version.ts";
import { passwordFileRule, tlsRule } from "../process/file-rules.ts";
import { followBroker } from "../process/follow-broker.ts";
import { holdCluster, logClusterState } from "../process/hold-cluster.ts";
import { buildInvocationMetrics } from "../process/metrics/invocation-metrics.ts";
import { start } from "../process/start.ts";
import { brokerUserRule } from "../settings/platform-settings.ts";
import { buildGateway } from "./build-gateway.ts";
import { drainGateway } from "./drain-gateway.ts";
import { gatewayFacts } from "./gateway-facts.ts";
import { gatewayDrainTimeout, gatewayPortRule, gatewayRules, gatewaySettings } from "./settings.ts";

const { settings, log, run } = start({
  name: "gateway",
  about: "The HTTP gateway of Weir, beside a broker that runs already.",
  version: release,
  settings: gatewaySettings,
  rules: [...gatewayRules, gatewayPortRule, brokerUserRule, passwordFileRule, tlsRule],
});

await run({
  drainTimeout: gatewayDrainTimeout(settings),
  open: async (parts) => {
    const { lifecycle, admin } = parts;
    const link = NatsLink.begin(natsOptions(settings, "gateway", "_INBOX.gw"));
    lifecycle.onClose("broker", () => link.close());
    followBroker(parts, [link.state]);

    const upstream = new HttpUpstream();
    lifecycle.onClose("upstream", () => upstream.close());
    const gateway = buildGateway({
      settings,
      ...gatewayBroker(link, settings),
      ...(settings.provider === "kubernetes"
        ? holdCluster(parts, gatewayCluster(await clusterConfig(settings), settings, logClusterState(log)))
        : {
            ...machineHome(link),
            secrets: new FileSecretStore(settings.secretsDir),
            logs: new LocalLogSource(settings.logsDir),
          }),
      upstream,
      ...gatewayFacts(settings),
      registry: admin.registry,
      invocations: buildInvocationMetrics(admin.registry),
      log,
    });
    lifecycle.onClose("gateway", () => gateway.close());
    // A broker that is too old fails the start; one that is unavailable does not.
    const port = await Promise.race([gateway.open(), link.refused]);
    return { facts: { port }, drain: () => drainGateway(gateway, settings.shutdownDelay) };
  },
});
