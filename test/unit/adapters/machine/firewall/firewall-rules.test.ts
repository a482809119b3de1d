import { expect, test } from "vitest";

import { bridgeName, bridgePrefix } from "../../../../../runtime/adapters/machine/firewall/bridge-name.ts";
import {
  firewallChains,
  firewallRules,
  parseNameServers,
  parseUplinks,
} from "../../../../../runtime/adapters/machine/firewall/firewall-rules.ts";

test("names fit: bridges into 15 characters, chains into 28", () => {
  const instance = "0123456789abcdef";

  expect(bridgeName(instance, "n".repeat(63))).toHaveLength(15);
  expect(bridgeName(instance, "a").startsWith(bridgePrefix(instance))).toBe(true);
  expect(bridgeName(instance, "a")).not.toBe(bridgeName(instance, "b"));
  expect(bridgePrefix(instance)).not.toBe(bridgePrefix("other"));
  for (const chain of Object.values(firewallChains(instance))) expect(chain.length).toBeLessThanOrEqual(28);
});

test("access to the gateway on this host is allowed before everything else is refused", () => {
  const rules = firewallRules({
    chains: firewallChains("i"),
    gateways: ["172.18.0.1"],
    gatewayPort: 8080,
    nameServers: ["169.254.169.254"],
    uplinks: ["br-lan"],
  }).split("\n");
  const at = (rule: string): number => {
    expect(rules).toContain(rule);
    return rules.indexOf(rule);
  };
  const refused = "-j REJECT --reject-with icmp-port-unreachable";

  expect(rules[0]).toBe("*filter");
  expect(at("-A WEIR-IN-i -d 172.18.0.1 -p tcp --dport 8080 -j ACCEPT")).toBeLessThan(at(`-A WEIR-IN-i ${refused}`));
  // Where the cloud's name server has an address of its metadata service, only DNS is allowed there.
  expect(at("-A WEIR-FWD-i -d 169.254.169.254 -p udp --dport 53 -j RETURN")).toBeLessThan(
    at(`-A WEIR-FWD-i -d 169.254.0.0/16 ${refused}`),
  );
  expect(at("-A WEIR-FWD-i -o br-lan -j RETURN")).toBeLessThan(at(`-A WEIR-FWD-i -o br-+ ${refused}`));
  at(`-A WEIR-FWD-i -o weir+ ${refused}`);
});

test("name servers and outgoing interfaces are read as the system writes them", () => {
  const resolvers = "# x\nnameserver 10.0.0.2\nnameserver 127.0.0.53\nnameserver fe80::1%eth0\n nameserver 1.1.1.1 \n";
  const routes =
    "Iface\tDestination\tGateway\tFlags\tRefCnt\tUse\tMetric\tMask\tMTU\tWindow\tIRTT\n" +
    "eth0\t00000000\t010200C0\t0003\t0\t0\t0\t00000000\t0\t0\t0\n" +
    "eth1\t0000A8C0\t00000000\t0001\t0\t0\t0\t00FFFFFF\t0\t0\t0\n";

  expect(parseNameServers(resolvers)).toEqual(["10.0.0.2", "1.1.1.1"]);
  expect(parseUplinks(routes)).toEqual(["eth0"]);
});
