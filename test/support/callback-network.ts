import type { LookupFunction } from "node:net";

import ipaddr from "ipaddr.js";
import { buildConnector } from "undici";

import type { OutsideNetwork } from "../../runtime/adapters/http/outside/outside-network.ts";

/** A network that resolves the names which a test gives it, and connects to loopback only. */
export interface TestNetwork extends OutsideNetwork {
  /** Addresses of all connection attempts, successful or not. */
  readonly dialled: string[];
}

/**
 * `names`: results of successive look-ups of a name; the last one repeats. `localhost` is built in. `mapped`: loopback
 * addresses that stand in for others.
 */
export function testNetwork(
  names: Readonly<Record<string, readonly (readonly string[])[]>> = {},
  mapped: Readonly<Record<string, string>> = {},
): TestNetwork {
  const dialled: string[] = [];
  const results = new Map(
    Object.entries({ localhost: [["127.0.0.1"]], ...names }).map(([name, each]) => [name, [...each]]),
  );
  return {
    dialled,
    resolve: async (name) => {
      const remaining = results.get(name);
      const found = remaining !== undefined && remaining.length > 1 ? remaining.shift() : remaining?.[0];
      if (found === undefined || found.length === 0) throw new Error(`getaddrinfo ENOTFOUND ${name}`);
      return found;
    },
    connector: (given) => {
      const { lookup, ...options } = given as buildConnector.BuildOptions & { readonly lookup?: LookupFunction };
      const connect = buildConnector(options);
      return (to, callback) => {
        const dial = (address: string): void => {
          dialled.push(address);
          const target = mapped[address] ?? address;
          if (ipaddr.parse(target).range() === "loopback")
            connect({ ...to, hostname: target, servername: to.hostname }, callback);
          else callback(new Error(`the test's network does not reach ${address}`), null);
        };
        const host = to.hostname.replace(/^\[|\]$/g, "");
        if (ipaddr.isValid(host)) return dial(host);
        // Without a look-up: the first address of a known name, or one that is refused.
        if (lookup === undefined) return dial(results.get(host)?.[0]?.[0] ?? "0.0.0.0");
        return lookup(host, { all: true }, (err, found) => {
          if (err !== null) return callback(err, null);
          const [first] = Array.isArray(found) ? found.map(({ address }) => address) : [found];
          return dial(first ?? "0.0.0.0");
        });
      };
    },
  };
}
