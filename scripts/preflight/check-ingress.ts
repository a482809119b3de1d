import { isTlsInFront, type Platform } from "../../infra/manifests/platform.ts";
import type { Cluster } from "./cluster.ts";
import { note, ok, problem, type Finding } from "./finding.ts";

interface IngressClasses {
  readonly items: readonly {
    readonly metadata: { readonly name: string; readonly annotations?: Readonly<Record<string, string>> };
  }[];
}

/** Which options describe an Ingress: of the gateway, and of its console. */
const entries = ["ingress", "console"] as const;
type Entry = (typeof entries)[number];

/** Whether a controller serves each Ingress, and its certificate has a source. */
export async function checkIngress(cluster: Cluster, platform: Platform): Promise<Finding[]> {
  const { ingress, httpRoute } = platform;
  const isOutside = ingress.host !== undefined || httpRoute.host !== undefined;
  return [
    ...(isOutside ? [] : [note("no Ingress is wanted", "set weir:ingress.host for one")]),
    ...(await checkOwnIngresses(cluster, platform)),
    ...(httpRoute.host === undefined ? [] : await checkHttpRoute(cluster, platform)),
  ];
}

async function checkOwnIngresses(cluster: Cluster, platform: Platform): Promise<Finding[]> {
  const wanted = entries.filter((entry) => platform[entry].host !== undefined);
  if (wanted.length === 0) return [];
  const { items } = (await cluster.get<IngressClasses>("/apis/networking.k8s.io/v1/ingressclasses")) ?? { items: [] };
  const byClass = new Map<string | undefined, Entry>();
  for (const entry of wanted)
    if (!byClass.has(platform[entry].className)) byClass.set(platform[entry].className, entry);
  const classes = [...byClass].map(([className, entry]) => classOf(items, className, entry));
  const certificates = await Promise.all(wanted.map((entry) => certificateOf(cluster, platform, entry)));
  return [...classes, ...certificates.flat()];
}

async function certificateOf(cluster: Cluster, platform: Platform, entry: Entry): Promise<Finding[]> {
  const { host = "", clusterIssuer, tlsSecret } = platform[entry];
  if (clusterIssuer !== undefined) {
    const path = `/apis/cert-manager.io/v1/clusterissuers/${clusterIssuer}`;
    const todo = `install cert-manager and make the issuer, or set weir:${entry}.tlsSecret`;
    return [
      (await cluster.get(path)) === undefined
        ? problem(`there is no ClusterIssuer "${clusterIssuer}"`, todo)
        : ok(`ClusterIssuer ${clusterIssuer} makes the certificate of ${host}`),
    ];
  }
  return tlsSecret === undefined ? [] : [await checkCertificate(cluster, platform, { host, tlsSecret })];
}

async function checkCertificate(
  cluster: Cluster,
  { platformNamespace, createNamespaces }: Platform,
  { host, tlsSecret }: { readonly host: string; readonly tlsSecret: string },
): Promise<Finding> {
  const place = `/api/v1/namespaces/${platformNamespace}`;
  if ((await cluster.get(`${place}/secrets/${tlsSecret}`)) !== undefined)
    return ok(`Secret ${tlsSecret} has the certificate of ${host}`);
  const what = `there is no Secret "${tlsSecret}" in namespace "${platformNamespace}"`;
  const todo = `kubectl -n ${platformNamespace} create secret tls ${tlsSecret} --cert=… --key=…`;
  // It cannot be created before its namespace, which the stack creates.
  const isLater = createNamespaces && (await cluster.get(place)) === undefined;
  return isLater ? note(what, `after pulumi up: ${todo}`) : problem(what, todo);
}

/** Whether the Gateway exists, with a matching listener, and with TLS if `publicUrl` requires it. */
async function checkHttpRoute(
  cluster: Cluster,
  { httpRoute, platformNamespace, publicUrl }: Platform,
): Promise<Finding[]> {
  const { gateway = "", gatewayNamespace = platformNamespace, sectionName } = httpRoute;
  const path = `/apis/gateway.networking.k8s.io/v1/namespaces/${gatewayNamespace}/gateways/${gateway}`;
  const found = await cluster.get<Gateway>(path);
  if (found === undefined)
    return [
      problem(
        `there is no Gateway "${gateway}" in namespace "${gatewayNamespace}"`,
        "make it, or set weir:httpRoute.gateway and weir:httpRoute.gatewayNamespace",
      ),
    ];
  const listeners = (found.spec?.listeners ?? []).filter(
    ({ name }) => sectionName === undefined || name === sectionName,
  );
  const where = `Gateway ${gateway} in namespace ${gatewayNamespace}`;
  if (listeners.length === 0)
    return [problem(`${where} has no listener "${sectionName}"`, "set weir:httpRoute.sectionName")];
  const closed = gatewayNamespace !== platformNamespace && listeners.every(isForItsOwnNamespace);
  if (closed)
    return [
      problem(
        `no listener of ${where} takes routes of namespace ${platformNamespace}`,
        "set allowedRoutes.namespaces of the listener",
      ),
    ];
  return isTlsInFront(publicUrl) && !listeners.some(({ protocol }) => protocol === "HTTPS")
    ? [note(`${where} has no listener with TLS`, "fine if TLS ends before it: weir:publicUrl is https")]
    : [ok(where)];
}

interface Gateway {
  readonly spec?: { readonly listeners?: readonly Listener[] };
}

interface Listener {
  readonly name: string;
  readonly protocol: string;
  readonly allowedRoutes?: { readonly namespaces?: { readonly from?: string } };
}

/** Whether it accepts routes only from its own namespace, the default of a listener. */
function isForItsOwnNamespace({ allowedRoutes }: Listener): boolean {
  return (allowedRoutes?.namespaces?.from ?? "Same") === "Same";
}

function classOf(items: IngressClasses["items"], className: string | undefined, entry: Entry): Finding {
  const names = items.map(({ metadata }) => metadata.name);
  const there = names.length === 0 ? "there is none: install an ingress controller" : `there are ${names.join(", ")}`;
  if (className !== undefined)
    return names.includes(className)
      ? ok(`ingress class ${className}`)
      : problem(`there is no ingress class "${className}"`, `set weir:${entry}.className; ${there}`);
  const isDefault = "ingressclass.kubernetes.io/is-default-class";
  const found = items.find(({ metadata }) => metadata.annotations?.[isDefault] === "true");
  return found === undefined
    ? problem("no ingress class is the default one", `set weir:${entry}.className; ${there}`)
    : ok(`ingress class ${found.metadata.name}, the default one`);
}
