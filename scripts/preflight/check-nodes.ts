import { isIP } from "node:net";

import ipaddr from "ipaddr.js";

import type { Platform } from "../../infra/manifests/platform.ts";
import { listAll, type Cluster } from "./cluster.ts";
import { note, ok, problem, type Finding } from "./finding.ts";

/** The parts of a node that are read. */
export interface Node {
  readonly metadata: { readonly name: string; readonly labels?: Readonly<Record<string, string>> };
  readonly spec?: {
    readonly podCIDRs?: readonly string[];
    readonly unschedulable?: boolean;
    readonly taints?: readonly { readonly key: string; readonly value?: string; readonly effect: string }[];
  };
  readonly status?: {
    readonly conditions?: readonly { readonly type: string; readonly status: string }[];
    readonly images?: readonly { readonly names?: readonly string[] }[];
    readonly nodeInfo?: { readonly architecture?: string };
    /** What all its pods may use in total. */
    readonly allocatable?: Readonly<Record<string, string>>;
  };
}

/** Nodes of the cluster; rejects when they may not be read. */
export async function nodesOf(cluster: Cluster): Promise<readonly Node[]> {
  return listAll<Node>(cluster, "/api/v1/nodes");
}

/**
 * Whether there are nodes for the pods, whether their DNS suffix fits, and whether their ranges are closed to
 * callbacks.
 */
export async function checkNodes(cluster: Cluster, nodes: readonly Node[], platform: Platform): Promise<Finding[]> {
  const ready = nodes.filter(
    ({ spec, status }) =>
      spec?.unschedulable !== true &&
      status?.conditions?.some(({ type, status: is }) => type === "Ready" && is === "True"),
  );
  if (ready.length === 0)
    return [problem("no node is ready", "kubectl get nodes says why, or add one; without nodes no pod starts")];
  const servers = Number(platform.nats.replicas);
  return [
    ok(`${ready.length} of ${nodes.length} nodes are ready`),
    ...(platform.nats.url === undefined && servers > ready.length
      ? [
          note(
            `the broker's ${servers} servers share ${ready.length} nodes`,
            "the loss of one node may stop the queues",
          ),
        ]
      : []),
    await suffixOf(cluster, ready[0]?.metadata.name ?? "", platform.clusterDomain),
    ...(await rangesOf(cluster, nodes, platform)),
  ];
}

async function suffixOf(cluster: Cluster, node: string, wanted: string): Promise<Finding> {
  const path = `/api/v1/nodes/${node}/proxy/configz`;
  const read = () => cluster.get<{ readonly kubeletconfig?: { readonly clusterDomain?: string } }>(path);
  const domain = (await read().catch(() => undefined))?.kubeletconfig?.clusterDomain;
  if (domain === undefined || domain === "")
    return note(
      `node ${node} does not tell its DNS suffix`,
      `weir:clusterDomain, "${wanted}", must be that of the cluster`,
    );
  return domain === wanted
    ? ok(`DNS suffix ${domain}`)
    : problem(`the DNS suffix of the cluster is ${domain}, and not "${wanted}"`, `set weir:clusterDomain to ${domain}`);
}

/** Ranges of pods and services that callbacks could reach. */
async function rangesOf(cluster: Cluster, nodes: readonly Node[], { clusterRanges }: Platform): Promise<Finding[]> {
  const service = await cluster.get<{ readonly spec?: { readonly clusterIP?: string } }>(
    "/api/v1/namespaces/default/services/kubernetes",
  );
  const address = service?.spec?.clusterIP;
  const ranges = [
    ...nodes.flatMap(({ spec }) => spec?.podCIDRs ?? []),
    ...(address !== undefined && isIP(address) !== 0 ? [`${address}/${isIP(address) === 4 ? 32 : 128}`] : []),
  ];
  // Callbacks cannot reach private ranges anyway.
  const open = ranges.filter(isPublic).filter((range) => !clusterRanges.some((closed) => contains(closed, range)));
  if (open.length === 0) return [ok("callbacks do not reach pods and services")];
  const shown = open.slice(0, 3).join(", ");
  return [
    note(
      `${shown}${open.length > 3 ? ` and ${open.length - 3} more` : ""} of the cluster is not in weir:clusterRanges`,
      "add it there: callbacks would reach pods and services",
    ),
  ];
}

function isPublic(range: string): boolean {
  return ipaddr.parseCIDR(range)[0].range() === "unicast";
}

function contains(outer: string, inner: string): boolean {
  const [network, bits] = ipaddr.parseCIDR(outer);
  const [address, length] = ipaddr.parseCIDR(inner);
  return network.kind() === address.kind() && bits <= length && address.match(network, bits);
}
