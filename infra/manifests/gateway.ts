import { accounts } from "../../runtime/api/accounts.ts";
import { natsUser } from "../../runtime/api/nats-users.ts";
import { gatewayDrainTimeout, gatewaySettings } from "../../runtime/gateway/settings.ts";
import {
  brokerEnvironment,
  clusterEnvironment,
  platformEnvironment,
  processEnvironment,
} from "./common-environment.ts";
import { environmentOf } from "./environment.ts";
import type { KubernetesObject } from "./kubernetes-object.ts";
import { labelsOf, secretName, selectorOf } from "./names.ts";
import { brokerFacts } from "./option-rules.ts";
import { publicUrlOf, type Platform } from "./platform.ts";
import { processDeployment } from "./process-deployment.ts";

/** Port of the gateway, in its pods and of its Service. */
export const gatewayPort = 8_080;

const base = 192 * 2 ** 20;
/** Bodies of asynchronous calls that are read at the same time. */
const bodiesAtOnce = 64;

/** The gateway: its Deployment first, as a Service without pods behind it is waited for in vain. */
export function gatewayManifests(platform: Platform): KubernetesObject[] {
  const { platformNamespace: namespace, settings, gateway, tuning } = platform;
  const environment = environmentOf(
    gatewaySettings,
    {
      ...processEnvironment(),
      ...brokerEnvironment(platform, natsUser.gateway),
      ...platformEnvironment(platform),
      ...clusterEnvironment(),
      host: "0.0.0.0",
      port: gatewayPort,
      publicUrl: publicUrlOf(platform),
      durability: brokerFacts(platform.nats).durability,
      // The Ingress speaks HTTPS.
      tlsCert: undefined,
      tlsKey: undefined,
      secretMountPath: undefined,
      secretsDir: undefined,
      logsDir: undefined,
    },
    tuning,
  );
  const deployment = processDeployment(platform, {
    process: accounts.gateway,
    component: "gateway",
    replicas: gateway.replicas,
    environment,
    ports: [{ name: "http", containerPort: gatewayPort }],
    credentials: [secretName.basicAuth, secretName.invokeKey],
    drainTimeout: gatewayDrainTimeout(settings.gateway),
    memory: base + settings.gateway.maxWaitingBytes + bodiesAtOnce * settings.gateway.asyncMaxBody,
    cpu: "250m",
    broker: true,
    readyWithout: "broker",
  });
  const service = {
    apiVersion: "v1",
    kind: "Service",
    metadata: { name: "gateway", namespace, labels: labelsOf(accounts.gateway) },
    spec: {
      type: gateway.serviceType,
      selector: selectorOf(accounts.gateway),
      ports: [{ name: "http", port: gatewayPort, targetPort: "http", protocol: "TCP" }],
    },
  };
  return [...deployment, service];
}
