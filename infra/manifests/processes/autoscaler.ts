import { accounts } from "../../../runtime/api/accounts.ts";
import { natsUser } from "../../../runtime/api/broker/nats-users.ts";
import { autoscalerSettings } from "../../../runtime/autoscaler/settings.ts";
import { brokerProcessEnvironment } from "./common-environment.ts";
import { environmentOf } from "./environment.ts";
import type { KubernetesObject } from "../kubernetes-object.ts";
import type { Platform } from "../platform.ts";
import { processDeployment } from "./process-deployment.ts";
import { briefDrain } from "./queue-doctor.ts";

const base = 192 * 2 ** 20;

/** The leader-elected autoscaler. */
export function autoscalerManifests(platform: Platform): KubernetesObject[] {
  return processDeployment(platform, {
    process: accounts.autoscaler,
    component: "autoscaler",
    replicas: Number(platform.autoscaler.replicas),
    environment: environmentOf(
      autoscalerSettings,
      {
        ...brokerProcessEnvironment(platform, natsUser.autoscaler),
      },
      platform.tuning,
    ),
    drainTimeout: briefDrain,
    memory: base,
    cpu: "100m",
    broker: true,
  });
}
