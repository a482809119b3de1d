import { metadataRanges } from "../../../api/metadata-addresses.ts";
import { managedByWeir, objectLabel } from "../../../api/names.ts";
import { resolverNamespace } from "../../../api/resolver-addresses.ts";
import type { NamedObject, LabelSelector } from "./object-types.ts";

/** A NetworkPolicy as we make it. */
export interface NetworkPolicyObject extends NamedObject {
  readonly spec: {
    readonly podSelector: LabelSelector;
    readonly policyTypes: readonly ("Ingress" | "Egress")[];
    readonly ingress?: readonly NetworkRule[];
    readonly egress?: readonly NetworkRule[];
  };
}

/** Allowed peers (any of them) and ports (any of them). */
export interface NetworkRule {
  readonly from?: readonly NetworkPeer[];
  readonly to?: readonly NetworkPeer[];
  readonly ports?: readonly { readonly protocol: "TCP" | "UDP"; readonly port: number }[];
}

interface NetworkPeer {
  readonly namespaceSelector?: LabelSelector;
  readonly podSelector?: LabelSelector;
  readonly ipBlock?: { readonly cidr: string; readonly except?: readonly string[] };
}

/** What policies of a function namespace depend on. */
export interface NetworkSettings {
  readonly platformNamespace: string;
  /**
   * Ranges of the cluster's pods, services and nodes, and whatever else functions must not reach: CIDRs of either
   * family.
   */
  readonly clusterRanges: readonly string[];
  /** CIDRs of DNS servers other than pods of `kube-system`: a cache on the node, for example. */
  readonly dnsRanges: readonly string[];
}

/** Private ranges, which are not routed on the Internet: by default those of the cluster are among them. */
export const privateRanges = ["10.0.0.0/8", "100.64.0.0/10", "172.16.0.0/12", "192.168.0.0/16", "fc00::/7"] as const;

const namespaceName = "kubernetes.io/metadata.name";
const port = 8080;

/**
 * Policies of a function namespace (`security.md` §9): ingress only from gateway and queue-worker, egress only to DNS,
 * the gateway and the Internet without metadata services and the cluster.
 */
export function networkPolicies(namespace: string, settings: NetworkSettings): readonly NetworkPolicyObject[] {
  const { platformNamespace } = settings;
  return [
    policy(namespace, "weir-deny", { policyTypes: ["Ingress", "Egress"] }),
    policy(namespace, "weir-calls", {
      policyTypes: ["Ingress"],
      ingress: [
        {
          from: [platformPods(platformNamespace, "gateway"), platformPods(platformNamespace, "queue-worker")],
          ports: [{ protocol: "TCP", port }],
        },
      ],
    }),
    policy(namespace, "weir-dns", {
      policyTypes: ["Egress"],
      egress: [
        {
          to: [
            { namespaceSelector: { matchLabels: { [namespaceName]: resolverNamespace } } },
            ...settings.dnsRanges.map((cidr) => ({ ipBlock: { cidr } })),
          ],
          ports: [
            { protocol: "UDP", port: 53 },
            { protocol: "TCP", port: 53 },
          ],
        },
      ],
    }),
    policy(namespace, "weir-gateway", {
      policyTypes: ["Egress"],
      egress: [{ to: [platformPods(platformNamespace, "gateway")], ports: [{ protocol: "TCP", port }] }],
    }),
    policy(namespace, "weir-internet", {
      policyTypes: ["Egress"],
      egress: [{ to: internet([...metadataRanges.v4, ...metadataRanges.v6, ...settings.clusterRanges]) }],
    }),
  ];
}

function policy(
  namespace: string,
  name: string,
  spec: Omit<NetworkPolicyObject["spec"], "podSelector">,
): NetworkPolicyObject {
  return {
    apiVersion: "networking.k8s.io/v1",
    kind: "NetworkPolicy",
    metadata: { name, namespace, labels: { [objectLabel.managedBy]: managedByWeir } },
    spec: { podSelector: {}, ...spec },
  };
}

function platformPods(platformNamespace: string, process: string): NetworkPeer {
  return {
    namespaceSelector: { matchLabels: { [namespaceName]: platformNamespace } },
    podSelector: { matchLabels: { [objectLabel.name]: process } },
  };
}

/** All addresses of both families except those in `ranges`. */
function internet(ranges: readonly string[]): readonly NetworkPeer[] {
  const isV6 = (range: string): boolean => range.includes(":");
  const all = [...new Set(ranges)].sort();
  return [
    { ipBlock: { cidr: "0.0.0.0/0", except: all.filter((range) => !isV6(range)) } },
    { ipBlock: { cidr: "::/0", except: all.filter(isV6) } },
  ];
}
