import dns from "node:dns";
import { syncBuiltinESMExports } from "node:module";

/**
 * Preloaded as `…?<name>=<address>,<address>…`: these names resolve to these addresses, one after the other with each
 * look-up, the last one for ever; `none` = not at all. All other names as ever.
 */
const answers = new Map(
  [...new URL(import.meta.url).searchParams].map(([name, addresses]) => [name, addresses.split(",")]),
);
const { lookup } = dns.promises;

const stubbed = (name: string, ...rest: unknown[]): unknown => {
  const addresses = answers.get(name);
  if (addresses === undefined) return Reflect.apply(lookup, dns.promises, [name, ...rest]);
  const [address = ""] = addresses.length > 1 ? addresses.splice(0, 1) : addresses;
  return address === "none"
    ? Promise.reject(new Error(`getaddrinfo ENOTFOUND ${name}`))
    : Promise.resolve([{ address, family: 4 }]);
};
Reflect.set(dns.promises, "lookup", stubbed);
syncBuiltinESMExports();
