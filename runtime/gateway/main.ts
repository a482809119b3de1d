import type { Registry } from "prom-client";

import { logClusterNews } from "../process/cluster-news.ts";
import { readCommandLine } from "../process/command-line.ts";
import { passwordFileRule, tlsRule } from "../process/file-rules.ts";
import { buildInvocationMetrics } from "../process/metrics/invocation-metrics.ts";
import { createLog } from "../process/log.ts";
import type { Lifecycle } from "../process/lifecycle.ts";
import { readOrExit } from "../process/read-or-exit.ts";
import { openAdminServer } from "../process/admin-server.ts";
import { followBroker } from "../process/follow-broker.ts";
import { dockerHost, ownAddresses } from "../process/machine-facts.ts";
import { runService } from "../process/run-service.ts";
import { registerWatchAge } from "../process/watch-age.ts";
import { environment, readConfigFile } from "../process/settings.ts";
import { HttpUpstream } from "../adapters/http/upstream/http-upstream.ts";
import { LocalLogSource } from "../adapters/machine/local/logs/local-log-source.ts";
import { FileSecretStore } from "../adapters/files/file-secret-store.ts";
import { NatsLink } from "../adapters/nats/link/nats-link.ts";
import { clusterConfig, gatewayCluster } from "../adapters/kubernetes/open-kubernetes.ts";
import { gatewayBroker, machineHome, natsOptions } from "../adapters/nats/open-nats.ts";
import { brokerUserRule, clusterGatewayUrl } from "../settings/platform-settings.ts";
import { flagsOf } from "../settings/read-settings.ts";
import { startSettings } from "../settings/start-settings.ts";
import { release } from "../api/version.ts";
import { enginePorts, gatewayOrigins, portsOf } from "../core/callbacks/callback-origins.ts";
import { platformInfo } from "../core/platform-info.ts";
import { buildGateway } from "./build-gateway.ts";
import { drainGateway } from "./drain-gateway.ts";
import { gatewayDrainTimeout, gatewayPortRule, gatewayRules, gatewaySettings } from "./settings.ts";

const typed = readCommandLine(
  {
    name: "gateway",
    about: "The HTTP gateway of Weir, beside a broker that runs already.",
    version: release,
    flags: flagsOf(gatewaySettings),
  },
  process.argv.slice(2),
);
const { settings, warnings } = readOrExit(() =>
  startSettings(gatewaySettings, {
    typed,
    environment: environment(),
    readFile: readConfigFile,
    rules: [...gatewayRules, gatewayPortRule, brokerUserRule, passwordFileRule, tlsRule],
    sharedFile: true,
  }),
);
const log = createLog("gateway", settings.logLevel);
for (const warning of warnings) log.warn(warning);

await runService({
  log,
  drainTimeout: () => gatewayDrainTimeout(settings),
  open: async (lifecycle) => {
    const admin = await openAdminServer({ host: settings.adminHost, port: settings.adminPort });
    lifecycle.onClose("admin server", () => admin.close());

    const link = NatsLink.begin(natsOptions(settings, "gateway", "_INBOX.gw"));
    lifecycle.onClose("broker", () => link.close());
    followBroker({ admin, log }, [link.trouble]);

    const upstream = new HttpUpstream();
    lifecycle.onClose("upstream", () => upstream.close());
    const onCluster = settings.provider === "kubernetes";
    const home = onCluster ? await openCluster(lifecycle, admin.registry) : await openMachine(link);
    const gateway = buildGateway({
      settings,
      ...gatewayBroker(link, settings),
      ...home,
      upstream,
      callbackRules: {
        policy: settings.callbackPolicy,
        allow: settings.callbackAllow,
        gatewayOrigins: gatewayOrigins({
          ...settings,
          clusterGatewayUrl: clusterGatewayUrl(settings),
          publicUrls: [settings.publicUrl],
        }),
        closedPorts: [settings.adminPort, ...portsOf(settings.natsUrl), ...enginePorts(dockerHost())],
        ownAddresses: ownAddresses(),
      },
      info: platformInfo({
        ...settings,
        provider: onCluster ? "kubernetes" : "local",
        version: { release, sha: "unreleased", commit_message: "unreleased" },
        arch: process.arch,
      }),
      registry: admin.registry,
      invocations: buildInvocationMetrics(admin.registry),
      log,
    });
    lifecycle.onClose("gateway", () => gateway.close());
    // A broker that is too old ends the start, one that is away does not.
    const port = await Promise.race([gateway.open(), link.refused]);
    log.info({ port, adminPort: admin.port }, "gateway is ready");

    admin.ready();
    lifecycle.onClose("readiness", () => {
      admin.drain();
      return drainGateway(gateway, settings.shutdownDelay);
    });
  },
});

/** Functions and what belongs to them, with the broker and in directories. */
async function openMachine(link: NatsLink) {
  return {
    ...machineHome(link),
    secrets: new FileSecretStore(settings.secretsDir),
    logs: new LocalLogSource(settings.logsDir),
  };
}

/** The same in Kubernetes. */
async function openCluster(lifecycle: Lifecycle, registry: Registry) {
  const { close, watched, ...home } = gatewayCluster(await clusterConfig(settings), settings, logClusterNews(log));
  lifecycle.onClose("API server", close);
  registerWatchAge(registry, watched);
  return home;
}
