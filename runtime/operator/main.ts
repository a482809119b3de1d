import { clusterConfig, operatorCluster } from "../adapters/kubernetes/open-kubernetes.ts";
import { operatedKinds } from "../adapters/kubernetes/operator/operated-kinds.ts";
import { editions } from "../api/editions.ts";
import { clusterGatewayUrl } from "../settings/platform-settings.ts";
import { flagsOf } from "../settings/read-settings.ts";
import { startSettings } from "../settings/start-settings.ts";
import { release } from "../api/version.ts";
import { openAdminServer } from "../process/admin-server.ts";
import { logClusterNews } from "../process/cluster-news.ts";
import { readCommandLine } from "../process/command-line.ts";
import { createLog } from "../process/log.ts";
import { readOrExit } from "../process/read-or-exit.ts";
import { runService } from "../process/run-service.ts";
import { registerWatchAge } from "../process/watch-age.ts";
import { environment, readConfigFile } from "../process/settings.ts";
import { buildOperator } from "./build-operator.ts";
import { buildOperatorMetrics } from "./operator-metrics.ts";
import { checkDescription, queueTimeouts } from "./check-description.ts";
import { operatorRules, operatorSettings } from "./settings.ts";

const resync = 600_000;
const workers = 4;

const typed = readCommandLine(
  {
    name: "operator",
    about:
      "Makes Function objects of Kubernetes true: Deployments, Services, secrets, conditions; of several one acts.",
    version: release,
    flags: flagsOf(operatorSettings),
  },
  process.argv.slice(2),
);
const { settings, warnings } = readOrExit(() =>
  startSettings(operatorSettings, {
    typed,
    environment: environment(),
    readFile: readConfigFile,
    rules: operatorRules,
    sharedFile: true,
  }),
);
const log = createLog("operator", settings.logLevel);
for (const warning of warnings) log.warn(warning);

await runService({
  log,
  drainTimeout: () => 10_000,
  open: async (lifecycle) => {
    const { edition, platformNamespace, upstreamTimeout, leaseTtl } = settings;
    const admin = await openAdminServer({ host: settings.adminHost, port: settings.adminPort });
    lifecycle.onClose("admin server", () => admin.close());

    const news = logClusterNews(log);
    const cluster = operatorCluster(await clusterConfig(settings), settings, news);
    lifecycle.onClose("API server", () => cluster.close());
    registerWatchAge(admin.registry, cluster.watched);
    const kinds = operatedKinds(cluster.client, cluster.namespaces, {
      platformNamespace,
      manyNamespaces: editions[edition].namespaces === "many",
      gatewayUrl: clusterGatewayUrl(settings),
      clusterRanges: settings.clusterRanges,
      longestCall: upstreamTimeout,
      functionLimits: { memory: settings.functionMemory, cpu: settings.functionCpu },
      check: (deployment) => checkDescription(deployment, settings),
      queues: queueTimeouts(settings.declaredQueues),
      onTrouble: news.onTrouble,
    });
    const metrics = buildOperatorMetrics(admin.registry);
    const operator = buildOperator({ kinds, leases: cluster.leases, leaseTtl, resync, workers, metrics, log });
    lifecycle.onClose("operator", () => operator.close());
    await operator.open();
    admin.ready();
    lifecycle.onClose("readiness", () => admin.drain());
    log.info({ adminPort: admin.port }, "operator is ready");
  },
});
