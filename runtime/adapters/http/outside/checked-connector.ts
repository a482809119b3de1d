import type { LookupFunction } from "node:net";
import type { ConnectionOptions } from "node:tls";

import ipaddr from "ipaddr.js";
import type { buildConnector } from "undici";

import { judgeAddress, type CallbackRules } from "../../../core/callbacks/callback-policy.ts";
import type { OutsideNetwork } from "./outside-network.ts";

/** The rules forbid the address that the host resolves to. */
export class ForbiddenAddressError extends Error {
  override readonly name = "ForbiddenAddressError";
}

/**
 * Connects like undici itself, but resolves names here: **every** address of a name must pass the rules, and the
 * socket connects to one of those, so that the name cannot resolve to another address between check and connect. What
 * the platform itself listens on may change at any time, so each connection is judged. `tls`: whom to trust, if not whom
 * Node trusts.
 */
export function checkedConnector(
  rules: CallbackRules,
  timeout: number,
  network: OutsideNetwork,
  tls: Pick<ConnectionOptions, "ca"> = {},
): buildConnector.connector {
  return (options, callback) => {
    const host = options.hostname.replace(/^\[|\]$/g, "");
    addressesOf(host, network)
      .then((addresses) => {
        const port = options.port === "" ? (options.protocol === "https:" ? 443 : 80) : Number(options.port);
        for (const address of addresses) {
          const reason = judgeAddress(address, port, rules);
          if (reason !== undefined) throw new ForbiddenAddressError(reason);
        }
        const connect = network.connector({ timeout, allowH2: false, lookup: fixedLookup(addresses), ...tls });
        connect({ ...options, hostname: host }, callback);
      })
      .catch((err: unknown) => callback(err instanceof Error ? err : new Error(String(err)), null));
  };
}

/** A look-up that returns `addresses` for every name. */
function fixedLookup(addresses: readonly string[]): LookupFunction {
  const entries = addresses.map((address) => ({ address, family: ipaddr.IPv6.isValid(address) ? 6 : 4 }));
  return (host, options, callback) => {
    const [first] = entries;
    if (first === undefined) callback(new Error(`"${host}" has no address`), "");
    else if (options.all === true) callback(null, entries);
    else callback(null, first.address, first.family);
  };
}

async function addressesOf(host: string, network: OutsideNetwork): Promise<readonly string[]> {
  return ipaddr.isValid(host) ? [host] : network.resolve(host);
}
