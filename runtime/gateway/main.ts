import { HttpIssuerDocuments } from "../adapters/http/issuers/http-issuer-documents.ts";
import { openGatewayClients } from "../adapters/http/open-gateway-clients.ts";
import { clusterConfig, gatewayCluster } from "../adapters/kubernetes/open-kubernetes.ts";
import { gatewayMachine } from "../adapters/machine/gateway-machine.ts";
import { NatsLink } from "../adapters/nats/link/nats-link.ts";
import { gatewayBroker, natsOptions } from "../adapters/nats/open-nats.ts";
import { release } from "../api/version.ts";
import { passwordFileRule, tlsRule } from "../process/file-rules.ts";
import { followBroker } from "../process/follow-broker.ts";
import { holdCluster, logClusterState } from "../process/hold-cluster.ts";
import { buildInvocationMetrics } from "../process/metrics/invocation-metrics.ts";
import { start } from "../process/start.ts";
import { brokerUserRule } from "../settings/platform-settings.ts";
import { openClusterAccess } from "./access/open-access.ts";
import { buildGateway } from "./build-gateway.ts";
import { drainGateway } from "./drain-gateway.ts";
import { gatewayFacts } from "./gateway-facts.ts";
import { gatewayDrainTimeout, gatewayPortRule, gatewayRules, gatewaySettings, historyPlace } from "./settings.ts";

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

    const { close, ...clients } = openGatewayClients(historyPlace(settings));
    lifecycle.onClose("clients", close);
    const { replicas, ...facts } = gatewayFacts(settings);
    const onCluster = settings.provider === "kubernetes";
    const cluster = onCluster
      ? holdCluster(parts, gatewayCluster(await clusterConfig(settings), settings, logClusterState(log)))
      : undefined;
    const documents = new HttpIssuerDocuments({ ...facts.callbackRules, account: cluster?.account, egress: settings });
    const gateway = buildGateway({
      settings,
      ...gatewayBroker(link, settings),
      ...replicas.watching(cluster ?? gatewayMachine(link, settings)),
      access: openClusterAccess(settings, cluster?.rules, documents),
      ...clients,
      ...facts,
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
