import { clusterConfig, operatorCluster } from "../adapters/kubernetes/open-kubernetes.ts";
import { operatedKinds } from "../adapters/kubernetes/operator/operated-kinds.ts";
import { editions } from "../api/editions.ts";
import { workloadAudience } from "../core/access/tokens/workload-claims.ts";
import { release } from "../api/version.ts";
import { holdCluster, logClusterState } from "../process/hold-cluster.ts";
import { start } from "../process/start.ts";
import { clusterGatewayUrl, clusterTokenIssuer } from "../settings/platform-settings.ts";
import { buildOperator } from "./build-operator.ts";
import { checkDescription, queueTimeouts } from "./check-description.ts";
import { buildOperatorMetrics } from "./operator-metrics.ts";
import { operatorRules, operatorSettings } from "./settings.ts";

const resync = 600_000;
const workers = 4;

const { settings, log, run } = start({
  name: "operator",
  about: "Reconciles Function objects of Kubernetes: Deployments, Services, secrets, conditions; leader-elected.",
  version: release,
  settings: operatorSettings,
  rules: operatorRules,
});

await run({
  drainTimeout: 10_000,
  open: async (parts) => {
    const { edition, platformNamespace, upstreamTimeout, leaseTtl } = settings;
    const news = logClusterState(log);
    const cluster = holdCluster(parts, operatorCluster(await clusterConfig(settings), settings, news));
    const kinds = operatedKinds(cluster.client, cluster.namespaces, {
      platformNamespace,
      manyNamespaces: editions[edition].namespaces === "many",
      iam: editions[edition].iam,
      gatewayUrl: clusterGatewayUrl(settings),
      tokenAudience: editions[edition].iam ? workloadAudience(clusterTokenIssuer(settings)) : undefined,
      clusterRanges: settings.clusterRanges,
      longestCall: upstreamTimeout,
      functionLimits: { memory: settings.functionMemory, cpu: settings.functionCpu },
      check: (deployment) => checkDescription(deployment, settings),
      queues: queueTimeouts(settings.declaredQueues),
      onFailure: news.onFailure,
    });
    const metrics = buildOperatorMetrics(parts.admin.registry);
    const operator = buildOperator({ kinds, leases: cluster.leases, leaseTtl, resync, workers, metrics, log });
    parts.lifecycle.onClose("operator", () => operator.close());
    await operator.open();
  },
});
