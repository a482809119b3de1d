const mapped = "::ffff:";

/** What counts as one client: an IPv4 address, or the /64 of an IPv6 address, as one host may use all of it. */
export function networkOf(address: string): string {
  if (address.startsWith(mapped) && address.includes(".")) return address.slice(mapped.length);
  if (!address.includes(":")) return address;
  const [head = "", tail] = address.split("%", 1)[0]?.split("::", 2) ?? [];
  const groups = head === "" ? [] : head.split(":");
  const after = tail === undefined || tail === "" ? 0 : tail.split(":").length;
  while (tail !== undefined && groups.length + after < 8) groups.push("0");
  return [...groups, ...(tail?.split(":") ?? [])].slice(0, 4).join(":");
}
