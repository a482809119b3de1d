import type { LookupFunction } from "node:net";

import ipaddr from "ipaddr.js";
import { buildConnector } from "undici";

import type { CallbackNetwork } from "../../runtime/adapters/http/callbacks/callback-network.ts";

/** A network of the test's own: it knows the names that the test gives it, and connects to loopback alone. */
export interface TestNetwork extends CallbackNetwork {
  /** Addresses that connections were asked to, whether they were opened or not. */
  readonly dialled: string[];
}

/**
 * `names`: what each look-up of a name gives, the last one for ever; `localhost` is known. `mapped`: loopback addresses that
 * stand for others.
 */
export function testNetwork(
  names: Readonly<Record<string, readonly (readonly string[])[]>> = {},
  mapped: Readonly<Record<string, string>> = {},
): TestNetwork {
  const dialled: string[] = [];
  const answers = new Map(
    Object.entries({ localhost: [["127.0.0.1"]], ...names }).map(([name, each]) => [name, [...each]]),
  );
  return {
    dialled,
    resolve: async (name) => {
      const waiting = answers.get(name);
      const found = waiting !== undefined && waiting.length > 1 ? waiting.shift() : waiting?.[0];
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
        // A name that nobody looked up is not this network's to guess.
        if (lookup === undefined) return dial(answers.get(host)?.[0]?.[0] ?? "0.0.0.0");
        return lookup(host, { all: true }, (err, found) => {
          if (err !== null) return callback(err, null);
          const [first] = Array.isArray(found) ? found.map(({ address }) => address) : [found];
          return dial(first ?? "0.0.0.0");
        });
      };
    },
  };
}
