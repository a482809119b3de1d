import ipaddr from "ipaddr.js";

type Address = ipaddr.IPv4 | ipaddr.IPv6;
type Range = readonly [Address, number];

/** Identifies clients, seen through trusted proxies. */
export interface ClientAddresses {
  /** Whether `peer` is a trusted proxy, whose `X-Forwarded` headers count. */
  isTrusted(peer: string | undefined): boolean;
  /** The client: the peer, or behind trusted proxies the last forwarded address that is not one of them. */
  of(peer: string | undefined, forwardedFor: string | undefined): string;
}

/**
 * Addresses seen through `trustedProxies`, each an address or a CIDR range.
 * @throws Error with a sentence when one cannot be read
 */
export function clientAddresses(trustedProxies: readonly string[]): ClientAddresses {
  const ranges = trustedProxies.map(parseRange);
  const isTrusted = (peer: string | undefined): boolean => {
    const address = peer === undefined || ranges.length === 0 ? undefined : parseAddress(peer);
    return address !== undefined && ranges.some((range) => contains(range, address));
  };

  return {
    isTrusted,
    of(peer, forwardedFor) {
      let client = peer ?? "";
      const hops = (forwardedFor ?? "")
        .split(",")
        .map((hop) => hop.trim())
        .filter((hop) => hop !== "");
      while (isTrusted(client)) {
        const hop = hops.pop();
        if (hop === undefined || parseAddress(hop) === undefined) break;
        client = hop;
      }
      return parseAddress(client)?.toNormalizedString() ?? client;
    },
  };
}

function parseRange(text: string): Range {
  const slash = text.indexOf("/");
  const address = parseAddress(slash === -1 ? text : text.slice(0, slash));
  const maxBits = address?.kind() === "ipv4" ? 32 : 128;
  const bits =
    slash === -1 ? maxBits : /^\d{1,3}$/.test(text.slice(slash + 1)) ? Number(text.slice(slash + 1)) : Number.NaN;
  if (address === undefined || !(bits <= maxBits)) {
    throw new Error(`Cannot read trusted proxy "${text}": expected an address or a CIDR range`);
  }
  return [address, bits];
}

function parseAddress(text: string): Address | undefined {
  return ipaddr.IPv4.isValidFourPartDecimal(text) || (text.includes(":") && ipaddr.IPv6.isValid(text))
    ? ipaddr.process(text)
    : undefined;
}

function contains([network, bits]: Range, address: Address): boolean {
  return network.kind() === address.kind() && address.match(network, bits);
}
