import { accounts } from "../../../runtime/api/accounts.ts";
import { callbackSecretCopies } from "../../../runtime/api/names.ts";
import { formatDeclaredQueue } from "../../../runtime/settings/declared-queue.ts";
import { operatorSettings } from "../../../runtime/operator/settings.ts";
import { clusterEnvironment, platformEnvironment, processEnvironment } from "./common-environment.ts";
import { environmentOf } from "./environment.ts";
import type { KubernetesObject } from "../kubernetes-object.ts";
import { labelsOf } from "../names.ts";
import { operatorMemory, operatorNodeOptions } from "../operator-memory.ts";
import { publicUrlOf, type Platform } from "../platform.ts";
import { processDeployment } from "./process-deployment.ts";
import { briefDrain } from "./queue-doctor.ts";

/** The leader-elected operator. It does not use the broker. */
export function operatorManifests(platform: Platform): KubernetesObject[] {
  const memory = operatorMemory(platform);
  const deployment = processDeployment(platform, {
    process: accounts.operator,
    component: "operator",
    replicas: Number(platform.operator.replicas),
    environment: [
      ...environmentOf(
        operatorSettings,
        {
          ...processEnvironment(),
          ...platformEnvironment(platform),
          ...clusterEnvironment(),
          publicUrl: publicUrlOf(platform),
          declaredQueues: platform.queues.map(formatDeclaredQueue),
          clusterRanges: platform.clusterRanges.length === 0 ? undefined : platform.clusterRanges,
        },
        platform.tuning,
      ),
      { name: "NODE_OPTIONS", value: operatorNodeOptions(memory).join(" ") },
    ],
    drainTimeout: briefDrain,
    memory,
    cpu: "100m",
    broker: false,
  });
  return [callbackSecrets(platform), ...deployment];
}

/** The copies of secrets that callbacks are signed with: its files are the operator's, which may create no Secret. */
function callbackSecrets({ platformNamespace: namespace }: Platform): KubernetesObject {
  return {
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name: callbackSecretCopies.object, namespace, labels: labelsOf(accounts.operator) },
    type: "Opaque",
  };
}
