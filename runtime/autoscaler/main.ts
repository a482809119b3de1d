import type { Registry } from "prom-client";

import { NatsLink } from "../adapters/nats/link/nats-link.ts";
import { autoscalerCluster, clusterConfig } from "../adapters/kubernetes/open-kubernetes.ts";
import { autoscalerBroker, machineFunctions, natsOptions } from "../adapters/nats/open-nats.ts";
import { brokerUserRule } from "../settings/platform-settings.ts";
import { flagsOf } from "../settings/read-settings.ts";
import { startSettings } from "../settings/start-settings.ts";
import { release } from "../api/version.ts";
import { openAdminServer } from "../process/admin-server.ts";
import { followBroker } from "../process/follow-broker.ts";
import { logClusterNews } from "../process/cluster-news.ts";
import { readCommandLine } from "../process/command-line.ts";
import { passwordFileRule } from "../process/file-rules.ts";
import { createLog } from "../process/log.ts";
import type { Lifecycle } from "../process/lifecycle.ts";
import { readOrExit } from "../process/read-or-exit.ts";
import { runService } from "../process/run-service.ts";
import { registerWatchAge } from "../process/watch-age.ts";
import { environment, readConfigFile } from "../process/settings.ts";
import { buildAutoscalerMetrics } from "./autoscaler-metrics.ts";
import { buildAutoscaler } from "./build-autoscaler.ts";
import { autoscalerRules, autoscalerSettings } from "./settings.ts";

const typed = readCommandLine(
  {
    name: "autoscaler",
    about: "Makes replicas of functions follow their load, to zero and back; of several one acts.",
    version: release,
    flags: flagsOf(autoscalerSettings),
  },
  process.argv.slice(2),
);
const { settings, warnings } = readOrExit(() =>
  startSettings(autoscalerSettings, {
    typed,
    environment: environment(),
    readFile: readConfigFile,
    rules: [...autoscalerRules, brokerUserRule, passwordFileRule],
    sharedFile: true,
  }),
);
const log = createLog("autoscaler", settings.logLevel);
for (const warning of warnings) log.warn(warning);

await runService({
  log,
  drainTimeout: () => 10_000,
  open: async (lifecycle) => {
    const admin = await openAdminServer({ host: settings.adminHost, port: settings.adminPort });
    lifecycle.onClose("admin server", () => admin.close());

    const link = NatsLink.begin(natsOptions(settings, "autoscaler", "_INBOX.as"));
    lifecycle.onClose("broker", () => link.close());
    followBroker({ admin, log }, [link.trouble]);
    await link.opened;

    const autoscaler = buildAutoscaler({
      settings,
      ...autoscalerBroker(link),
      ...(settings.provider === "kubernetes" ? await openCluster(lifecycle, admin.registry) : machineFunctions(link)),
      metrics: buildAutoscalerMetrics(admin.registry),
      log,
    });
    lifecycle.onClose("autoscaler", () => autoscaler.close());
    await autoscaler.open();
    admin.ready();
    lifecycle.onClose("readiness", () => admin.drain());
    log.info({ adminPort: admin.port }, "autoscaler is ready");
  },
});

/** Its lease, too, is there: it acts on what is there. */
async function openCluster(lifecycle: Lifecycle, registry: Registry) {
  const { close, watched, ...parts } = autoscalerCluster(await clusterConfig(settings), settings, logClusterNews(log));
  lifecycle.onClose("API server", close);
  registerWatchAge(registry, watched);
  return parts;
}
