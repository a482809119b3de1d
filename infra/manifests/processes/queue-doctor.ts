import { createHash } from "node:crypto";

import { accounts } from "../../../runtime/api/accounts.ts";
import { natsUser } from "../../../runtime/api/broker/nats-users.ts";
import { queueDoctorSettings } from "../../../runtime/queue-doctor/settings.ts";
import { brokerProcessEnvironment } from "./common-environment.ts";
import { environmentOf } from "./environment.ts";
import type { KubernetesObject } from "../kubernetes-object.ts";
import { labelsOf } from "../names.ts";
import { natsMonitorUrls } from "../broker/nats-addresses.ts";
import { brokerFacts } from "../option-rules.ts";
import type { Platform } from "../platform.ts";
import { processDeployment } from "./process-deployment.ts";

const base = 160 * 2 ** 20;
const file = "weir.yaml";

/** Milliseconds that the process gives itself to stop. */
export const briefDrain = 10_000;

/** The queue-doctor, with the queues in its settings file: JSON, which is YAML, too. */
export function queueDoctorManifests(platform: Platform): KubernetesObject[] {
  const { platformNamespace: namespace, tuning } = platform;
  const name = accounts.queueDoctor;
  const content = `${JSON.stringify({ queues: tuning.queues ?? {} }, undefined, 2)}\n`;
  const config = {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name, namespace, labels: labelsOf(name) },
    data: { [file]: content },
  };
  const environment = environmentOf(
    queueDoctorSettings,
    {
      ...brokerProcessEnvironment(platform, natsUser.doctor),
      ...brokerFacts(platform.nats),
      natsMonitorUrl: natsMonitorUrls(platform),
      oneMachine: undefined,
      recreate: undefined,
    },
    tuning,
  );
  const deployment = processDeployment(platform, {
    process: name,
    component: "queueDoctor",
    replicas: Number(platform.queueDoctor.replicas),
    environment,
    drainTimeout: briefDrain,
    memory: base,
    cpu: "50m",
    broker: true,
    config: { configMap: name, file, checksum: createHash("sha256").update(content).digest("hex").slice(0, 16) },
  });
  return [config, ...deployment];
}
