import { accounts } from "../../../runtime/api/accounts.ts";
import { messageRoom } from "../../../runtime/api/broker/nats-server-options.ts";
import { natsUser } from "../../../runtime/api/broker/nats-users.ts";
import { callbackSecretCopies } from "../../../runtime/api/names.ts";
import { queueWorkerSettings, workerDrainTimeout } from "../../../runtime/queue-worker/settings.ts";
import { brokerProcessEnvironment } from "./common-environment.ts";
import { environmentOf } from "./environment.ts";
import type { KubernetesObject } from "../kubernetes-object.ts";
import { natsMonitorUrls } from "../broker/nats-addresses.ts";
import { privateCallbackKeys } from "../key-secrets.ts";
import { queueWorkerName, platformSecret } from "../names.ts";
import { gatewayOrigin, type Platform } from "../platform.ts";
import { processDeployment } from "./process-deployment.ts";

const base = 160 * 2 ** 20;
/** A run holds its body and its output. */
const messagesPerSlot = 2;
/** Callbacks that are sent at the same time. */
const callbacksAtOnce = 32;

/** The workers, one Deployment per queue; they read the queue's settings where the queue-doctor declares them. */
export function queueWorkerManifests(platform: Platform): KubernetesObject[] {
  const { settings, tuning } = platform;
  return platform.queues.flatMap((queue) =>
    processDeployment(platform, {
      process: accounts.queueWorker,
      name: queueWorkerName(queue.name),
      component: "queueWorker",
      replicas: platform.queueRanges.get(queue.name) ?? queue.replicas,
      environment: environmentOf(
        queueWorkerSettings,
        {
          ...brokerProcessEnvironment(platform, natsUser.worker(queue.name)),
          natsMonitorUrl: natsMonitorUrls(platform),
          queue: queue.name,
          history: platform.history,
          gatewayUrl: gatewayOrigin(platform),
          secretMountPath: undefined,
        },
        tuning,
      ),
      credentials: [
        { name: platformSecret.invokeKey },
        ...privateCallbackKeys,
        { name: callbackSecretCopies.object, optional: true },
      ],
      drainTimeout: workerDrainTimeout(settings.queueWorker),
      memory:
        base +
        (queue.maxInflight * messagesPerSlot + callbacksAtOnce) * (settings.queueWorker.asyncMaxBody + messageRoom),
      cpu: "100m",
      broker: true,
    }),
  );
}
