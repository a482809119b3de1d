import { brokerPorts } from "../../runtime/api/broker/broker-addresses.ts";
import { metadataRanges } from "../../runtime/api/metadata-addresses.ts";
import { historyPort } from "../../runtime/api/schemas/history/history-wire.ts";
import { accounts, processLabel } from "../../runtime/api/accounts.ts";
import { namespaceMarker } from "../../runtime/api/names.ts";
import { nodeDnsRanges, resolverNamespace } from "../../runtime/api/resolver-addresses.ts";
import { apiServerFlows } from "./api-server.ts";
import { proxyPlace } from "./egress/egress-proxy.ts";
import { issuerNamespaces } from "./iam/issuer-namespaces.ts";
import { gatewayPort } from "./processes/gateway.ts";
import type { KubernetesObject } from "./kubernetes-object.ts";
import { labelsOf } from "./names.ts";
import { natsMonitorUrls, natsNames, natsPort, soleMonitorUrl } from "./broker/nats-addresses.ts";
import type { Platform } from "./platform.ts";
import { adminPort } from "./processes/process-deployment.ts";

/** Allowed sources or destinations; absent = any. */
type Peers = readonly object[] | undefined;

interface Flow {
  readonly peers: Peers;
  readonly ports?: readonly { readonly port: number; readonly protocol: "TCP" | "UDP" }[];
}

/** Port of functions. */
const functionPort = 8_080;

/**
 * In the platform's namespace all connections, in and out, are denied except those listed here. Image registries are
 * not listed, because nodes pull the images.
 */
export function networkPolicyManifests(platform: Platform): KubernetesObject[] {
  const broker = platform.nats.url === undefined ? pods(natsNames.statefulSet) : undefined;
  const clientPorts = platform.nats.url === undefined ? [natsPort.client] : brokerPorts(platform.nats.url);
  const toBroker = { peers: broker, ports: tcp(...clientPorts) };
  const toMonitored = { peers: broker, ports: tcp(...clientPorts, ...monitorPorts(platform)) };
  const toApiServer = apiServerFlows(platform.apiServer).map(({ cidrs, ports }) => ({
    peers: cidrs?.map((cidr) => ({ ipBlock: { cidr } })),
    ports: tcp(...ports),
  }));
  const toFunctions = { peers: functionNamespaces(platform), ports: tcp(functionPort) };
  const toDns = {
    peers: [namespaceNamed(resolverNamespace), ...nodeDnsRanges.map((cidr) => ({ ipBlock: { cidr } }))],
    ports: [
      { port: 53, protocol: "UDP" },
      { port: 53, protocol: "TCP" },
    ],
  } as const;
  const scraped = monitoring(platform);
  const { consolePort } = platform.settings.gateway;
  const toHistory = platform.history ? [{ peers: pods(accounts.history), ports: tcp(historyPort) }] : [];

  return [
    policy(platform, "default-deny", {}, [], []),
    policy(platform, "dns", {}, undefined, [toDns]),
    policy(
      platform,
      accounts.gateway,
      name(accounts.gateway),
      [{ peers: undefined, ports: tcp(gatewayPort, ...(consolePort === 0 ? [] : [consolePort])) }, ...scraped],
      [
        toFunctions,
        toMonitored,
        ...toHistory,
        ...toApiServer,
        ...toIssuers(platform),
        ...(platform.hasIam ? toProxy(platform) : []),
      ],
    ),
    policy(platform, accounts.queueWorker, name(accounts.queueWorker), scraped, [
      toFunctions,
      { peers: pods(accounts.gateway), ports: tcp(gatewayPort) },
      toMonitored,
      ...toApiServer,
      { peers: outside(platform) },
      ...toProxy(platform),
    ]),
    policy(platform, accounts.queueDoctor, name(accounts.queueDoctor), scraped, [toMonitored, ...toApiServer]),
    policy(platform, accounts.autoscaler, name(accounts.autoscaler), scraped, [toBroker, ...toApiServer]),
    policy(platform, accounts.operator, name(accounts.operator), scraped, toApiServer),
    ...(platform.history
      ? [historyPolicy(platform, scraped, [readsMonitor(platform) ? toMonitored : toBroker, ...toApiServer])]
      : []),
    ...(platform.nats.url === undefined ? [natsPolicy(platform)] : []),
  ];
}

/** Gateways alone ask the history; its database may be anywhere. */
function historyPolicy(platform: Platform, scraped: readonly Flow[], toOthers: readonly Flow[]): KubernetesObject {
  const { historyDatabase } = platform;
  return policy(
    platform,
    accounts.history,
    name(accounts.history),
    [{ peers: pods(accounts.gateway), ports: tcp(historyPort) }, ...scraped],
    [
      ...toOthers,
      ...(historyDatabase?.port === undefined ? [] : [{ peers: undefined, ports: tcp(historyDatabase.port) }]),
    ],
  );
}

function natsPolicy(platform: Platform): KubernetesObject {
  const history = platform.history ? [accounts.history] : [];
  const users = [accounts.gateway, accounts.queueWorker, accounts.autoscaler, accounts.queueDoctor, ...history];
  const readers = [
    accounts.gateway,
    accounts.queueWorker,
    accounts.queueDoctor,
    ...(readsMonitor(platform) ? history : []),
  ];
  const servers = { peers: pods(natsNames.statefulSet), ports: tcp(natsPort.route) };
  return policy(
    platform,
    natsNames.statefulSet,
    name(natsNames.statefulSet),
    [
      { peers: users.flatMap(pods), ports: tcp(natsPort.client) },
      servers,
      { peers: readers.flatMap(pods), ports: tcp(natsPort.monitor) },
    ],
    [servers],
  );
}

/** Whether the history asks the broker's monitoring. */
function readsMonitor(platform: Platform): boolean {
  return soleMonitorUrl(platform).length > 0;
}

function policy(
  { platformNamespace: namespace }: Platform,
  policyName: string,
  podSelector: object,
  ingress: readonly Flow[] | undefined,
  egress: readonly Flow[],
): KubernetesObject {
  const rules = (flows: readonly Flow[], side: "from" | "to") =>
    flows.map(({ peers, ports }) => ({
      ...(peers === undefined ? {} : { [side]: peers }),
      ...(ports === undefined ? {} : { ports }),
    }));
  return {
    apiVersion: "networking.k8s.io/v1",
    kind: "NetworkPolicy",
    metadata: { name: policyName, namespace, labels: { ...labelsOf(policyName), [processLabel]: policyName } },
    spec: {
      podSelector,
      policyTypes: ingress === undefined ? ["Egress"] : ["Ingress", "Egress"],
      ...(ingress === undefined || ingress.length === 0 ? {} : { ingress: rules(ingress, "from") }),
      ...(egress.length === 0 ? {} : { egress: rules(egress, "to") }),
    },
  };
}

function name(process: string) {
  return { matchLabels: { [processLabel]: process } };
}

function pods(process: string) {
  return [{ podSelector: name(process) }];
}

/** The default namespace, marked or not, and those with the marker in editions with several. */
function functionNamespaces({ functionNamespace, manyNamespaces }: Platform): object[] {
  const { key, value, foreignKey } = namespaceMarker;
  return [
    namespaceNamed(functionNamespace),
    ...(manyNamespaces
      ? [
          { namespaceSelector: { matchLabels: { [key]: value } } },
          { namespaceSelector: { matchExpressions: [{ key: foreignKey, operator: "Exists" }] } },
        ]
      : []),
  ];
}

/** Issuers of tokens: those outside, wherever they are, and those that the stack names in the cluster. */
function toIssuers(platform: Platform): Flow[] {
  if (!platform.hasIam) return [];
  const inside = issuerNamespaces(platform).map((namespace) => namespaceNamed(namespace));
  return [{ peers: [...outside(platform), ...inside] }];
}

/** The proxy by which issuers and receivers of callbacks are reached, where it is not outside. */
function toProxy(platform: Platform): Flow[] {
  const place = proxyPlace(platform);
  if (place === undefined) return [];
  // Policies apply behind a Service, where the port is that of its pods.
  if (place.kind === "namespace") return [{ peers: [namespaceNamed(place.namespace)] }];
  return [{ peers: [{ ipBlock: { cidr: place.cidr } }], ports: tcp(place.port) }];
}

function namespaceNamed(namespace: string) {
  return { namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": namespace } } };
}

/** Where callbacks may go: anywhere except metadata services and, if its ranges are known, the cluster. */
function outside({ clusterRanges }: Platform): object[] {
  const isV6 = (range: string) => range.includes(":");
  return [
    {
      ipBlock: { cidr: "0.0.0.0/0", except: [...metadataRanges.v4, ...clusterRanges.filter((range) => !isV6(range))] },
    },
    { ipBlock: { cidr: "::/0", except: [...metadataRanges.v6, ...clusterRanges.filter(isV6)] } },
  ];
}

function monitoring({ monitoring: { namespaceLabels, podLabels } }: Platform): Flow[] {
  const labelled = (labels: Readonly<Record<string, string>>) => Object.keys(labels).length > 0;
  if (!labelled(namespaceLabels) && !labelled(podLabels)) return [];
  const peer = {
    ...(labelled(namespaceLabels) ? { namespaceSelector: { matchLabels: namespaceLabels } } : {}),
    ...(labelled(podLabels) ? { podSelector: { matchLabels: podLabels } } : {}),
  };
  return [{ peers: [peer], ports: tcp(adminPort) }];
}

function tcp(...ports: readonly number[]) {
  return [...new Set(ports)].map((port) => ({ port, protocol: "TCP" }) as const);
}

function monitorPorts(platform: Platform): number[] {
  return natsMonitorUrls(platform).map((url) => Number(URL.parse(url)?.port) || (url.startsWith("https:") ? 443 : 80));
}
