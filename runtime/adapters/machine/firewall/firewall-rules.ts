import { metadataRanges } from "../../../api/metadata-addresses.ts";
import { anyBridge } from "./bridge-name.ts";

/** What the rules of one instance are made from. */
export interface FirewallFacts {
  readonly chains: FirewallChains;
  /** Addresses of bridges at which the gateway listens. */
  readonly gateways: readonly string[];
  readonly gatewayPort: number;
  /** Name servers of this host: reachable on port 53, wherever they are. */
  readonly nameServers: readonly string[];
  /** Interfaces that lead out of this host. */
  readonly uplinks: readonly string[];
}

/** Names of the two chains of one instance: for traffic to this host, and for traffic through it. */
export interface FirewallChains {
  readonly toHost: string;
  readonly through: string;
}

/** Usual names of the bridges of container engines and virtual machines. */
const bridges = [anyBridge, "docker0", "docker_gwbridge", "br-+", "virbr+", "podman+", "cni+", "lxdbr+", "incusbr+"];
const established = "-m conntrack --ctstate RELATED,ESTABLISHED -j RETURN";
const refuse = "-j REJECT --reject-with icmp-port-unreachable";

/** The chains of an instance; `instance` has at most 16 characters, as iptables allows 28. */
export function firewallChains(instance: string): FirewallChains {
  return { toHost: `WEIR-IN-${instance}`, through: `WEIR-FWD-${instance}` };
}

/**
 * The input of `iptables-restore --noflush` that replaces both chains in one step. On this host a container reaches
 * only the gateway and name servers; beyond it, everything but metadata services and other containers.
 */
export function firewallRules(facts: FirewallFacts): string {
  const { toHost, through } = facts.chains;
  const names = facts.nameServers.flatMap((address) =>
    ["udp", "tcp"].map((protocol) => `-d ${address} -p ${protocol} --dport 53 -j RETURN`),
  );
  const inward = [
    established,
    ...facts.gateways.map((address) => `-d ${address} -p tcp --dport ${facts.gatewayPort} -j ACCEPT`),
    ...names,
    refuse,
  ];
  const outward = [
    established,
    ...names,
    ...metadataRanges.v4.map((range) => `-d ${range} ${refuse}`),
    ...facts.uplinks.map((name) => `-o ${name} -j RETURN`),
    ...bridges.map((name) => `-o ${name} ${refuse}`),
  ];
  return [
    "*filter",
    `:${toHost} - [0:0]`,
    `:${through} - [0:0]`,
    ...inward.map((rule) => `-A ${toHost} ${rule}`),
    ...outward.map((rule) => `-A ${through} ${rule}`),
    "COMMIT",
    "",
  ].join("\n");
}

/** IPv4 addresses of the name servers in the text of `resolv.conf`, loopback ones left out. */
export function parseNameServers(text: string): string[] {
  const found = [...text.matchAll(/^\s*nameserver\s+(\d{1,3}(?:\.\d{1,3}){3})\s*$/gm)].map(
    ([, address = ""]) => address,
  );
  return found.filter((address) => !address.startsWith("127."));
}

/** Interfaces of default routes in the text of `/proc/net/route`. */
export function parseUplinks(text: string): string[] {
  const routes = text.split("\n").map((line) => line.split(/\s+/));
  return [
    ...new Set(
      routes.filter(([, to, , , , , , mask]) => to === "00000000" && mask === "00000000").map(([name = ""]) => name),
    ),
  ];
}
