const mapped = "::ffff:";

/** What counts as one client: an IPv4 address, or the /64 of an IPv6 address, as one host may use all of it. */
export function networkOf(address: string): string {
  return firstGroups(address, 4);
}

/** What one customer of a provider has at most: an IPv4 address, or the /48 of an IPv6 address. */
export function siteOf(address: string): string {
  return firstGroups(address, 3);
}

function firstGroups(address: string, count: number): string {
  if (address.startsWith(mapped) && address.includes(".")) return address.slice(mapped.length);
  if (!address.includes(":")) return address;
  const [head = "", tail] = address.split("%", 1)[0]?.split("::", 2) ?? [];
  const groups = head === "" ? [] : head.split(":");
  const after = tail === undefined || tail === "" ? 0 : tail.split(":").length;
  while (tail !== undefined && groups.length + after < 8) groups.push("0");
  return [...groups, ...(tail?.split(":") ?? [])].slice(0, count).join(":");
}
