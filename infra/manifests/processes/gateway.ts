import { accounts } from "../../../runtime/api/accounts.ts";
import { natsUser } from "../../../runtime/api/broker/nats-users.ts";
import { gatewayDrainTimeout, gatewaySettings } from "../../../runtime/gateway/settings.ts";
import { consoleService } from "../console.ts";
import { brokerProcessEnvironment } from "./common-environment.ts";
import { environmentOf } from "./environment.ts";
import { given, type KubernetesObject } from "../kubernetes-object.ts";
import { publicCallbackKeys } from "../key-secrets.ts";
import { natsMonitorUrls } from "../broker/nats-addresses.ts";
import { labelsOf, platformSecret, selectorOf } from "../names.ts";
import { brokerFacts } from "../option-rules.ts";
import { historyOrigin, isTlsInFront, publicUrlOf, type Platform } from "../platform.ts";
import { processDeployment, type CredentialSource } from "./process-deployment.ts";

/** Port of the gateway, in its pods and of its Service. */
export const gatewayPort = 8_080;

const base = 192 * 2 ** 20;
/** Bodies of asynchronous calls that are read at the same time. */
const bodiesAtOnce = 64;

/** The gateway: its Deployment first, because waiting for a Service without pods would never end. */
export function gatewayManifests(platform: Platform): KubernetesObject[] {
  const { settings, gateway, tuning } = platform;
  const { consolePort, consoleOrigins } = settings.gateway;
  const environment = environmentOf(
    gatewaySettings,
    {
      ...brokerProcessEnvironment(platform, natsUser.gateway),
      natsMonitorUrl: natsMonitorUrls(platform),
      host: "0.0.0.0",
      port: gatewayPort,
      consolePort,
      consoleHost: undefined,
      consoleOrigins,
      history: platform.history,
      historyUrl: platform.history ? historyOrigin(platform) : undefined,
      publicUrl: publicUrlOf(platform),
      durability: brokerFacts(platform.nats).durability,
      // TLS ends at the Ingress.
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
    ports: [
      { name: "http", containerPort: gatewayPort },
      ...(consolePort === 0 ? [] : [{ name: "console", containerPort: consolePort }]),
    ],
    credentials: [
      { name: platformSecret.basicAuth },
      { name: platformSecret.invokeKey },
      ...(platform.hasIam ? [{ name: platformSecret.issuerKey }] : []),
      ...publicCallbackKeys,
      ...(platform.history ? [{ name: platformSecret.historyKey }] : []),
      ...iamClients(platform),
    ],
    drainTimeout: gatewayDrainTimeout(settings.gateway),
    memory: base + settings.gateway.maxWaitingBytes + bodiesAtOnce * settings.gateway.asyncMaxBody,
    cpu: "250m",
    broker: true,
    readyWithout: "broker",
  });
  return [...deployment, ...services(platform), ...consoleServices(platform)];
}

/** Secrets of the platform's clients at issuers, each in its own file of one directory. */
function iamClients({ iam: { clientSecrets } }: Platform): CredentialSource[] {
  if (clientSecrets.length === 0) return [];
  const items = clientSecrets.map((key) => ({ key, path: `${platformSecret.iamClients}/${key}` }));
  return [{ name: platformSecret.iamClients, items }];
}

/**
 * The Service for the cluster. Where a load balancer terminates TLS, it gets a separate Service: all ports of its
 * Service are open to clients, and the port for the cluster has no TLS.
 */
function services(platform: Platform): KubernetesObject[] {
  const { publicUrl, gateway } = platform;
  const { serviceType: type, annotations, loadBalancerClass, loadBalancerSourceRanges: ranges } = gateway;
  const inside = { name: "http", port: gatewayPort, targetPort: "http" };
  const outside = {
    annotations,
    spec: {
      type,
      ...given("loadBalancerClass", loadBalancerClass),
      ...given("loadBalancerSourceRanges", ranges.length === 0 ? undefined : ranges),
    },
  };
  if (publicUrl === undefined || type !== "LoadBalancer" || !isTlsInFront(publicUrl))
    return [service(platform, "gateway", inside, outside)];
  return [
    service(platform, "gateway", inside, { annotations: {}, spec: { type: "ClusterIP" } }),
    service(
      platform,
      "gateway-public",
      { name: "https", port: Number(new URL(publicUrl).port || 443), targetPort: "http" },
      outside,
    ),
  ];
}

/** The Service of the console, if there is one: for the cluster, where its Ingress ends TLS. */
function consoleServices(platform: Platform): KubernetesObject[] {
  const { consolePort } = platform.settings.gateway;
  if (consolePort === 0) return [];
  const port = { name: "console", port: consolePort, targetPort: "console" };
  return [service(platform, consoleService, port, { annotations: {}, spec: { type: "ClusterIP" } })];
}

function service(
  { platformNamespace: namespace }: Platform,
  name: string,
  port: { readonly name: string; readonly port: number; readonly targetPort: string },
  { annotations, spec }: { readonly annotations: Readonly<Record<string, string>>; readonly spec: object },
): KubernetesObject {
  return {
    apiVersion: "v1",
    kind: "Service",
    metadata: {
      name,
      namespace,
      labels: labelsOf(accounts.gateway),
      ...given("annotations", Object.keys(annotations).length === 0 ? undefined : annotations),
    },
    spec: {
      ...spec,
      selector: selectorOf(accounts.gateway),
      ports: [{ ...port, protocol: "TCP" }],
    },
  };
}
