import { request as httpRequest } from "node:http";
import { request as httpsRequest } from "node:https";
import { isIP, type LookupFunction, type Socket } from "node:net";

import ipaddr from "ipaddr.js";
import { buildConnector } from "undici";

import { machineNetwork, type OutsideNetwork } from "./outside-network.ts";

/** The way to hosts outside, where connections are not allowed to leave by themselves. */
export interface EgressProxy {
  /** Address of a proxy that knows `CONNECT`: `http://host:port` or `https://host:port`. */
  readonly egressProxy: string | undefined;
  /** Hosts, domains (`.example.com`) and ranges that are reached directly. */
  readonly egressNoProxy: readonly string[];
  /** Whether the proxy gets names: it resolves them itself, and must refuse internal addresses. */
  readonly egressProxyNames: boolean;
}

const noProxy: EgressProxy = { egressProxy: undefined, egressNoProxy: [], egressProxyNames: false };
/** Hosts of this machine are nothing that a proxy could reach. */
const loopback: readonly string[] = ["localhost", ".localhost", "127.0.0.0/8", "::1/128"];

/**
 * The network by a proxy, which stands in `machine`; that one without a proxy. Names are resolved and judged here as without a proxy, and the
 * proxy is asked for an address that was judged: it cannot be led to another one. The name is in the TLS handshake and
 * in the request.
 */
export function outsideNetwork(
  { egressProxy: proxy, egressNoProxy: direct, egressProxyNames: names }: EgressProxy = noProxy,
  machine: OutsideNetwork = machineNetwork,
): OutsideNetwork {
  if (proxy === undefined) return machine;
  const url = new URL(proxy);
  const exceptions = [...loopback, ...direct];
  return {
    inside: machine,
    // A network that leaves by a proxy may know no names outside.
    resolve: (name) => machine.resolve(name).catch(orNone(names && !isListed(name, [], exceptions))),
    connector: (options) => {
      const { lookup, ...others } = options as buildConnector.BuildOptions & { readonly lookup?: LookupFunction };
      const straight = machine.connector(options);
      const upgrade = buildConnector(others);
      const timeout = options.timeout ?? 10_000;
      return (target, callback) => {
        const { hostname, protocol } = target;
        const port = target.port === "" ? (protocol === "https:" ? 443 : 80) : Number(target.port);
        const connect = async (): Promise<void> => {
          const judged = await judgedAddresses(hostname, lookup).catch(orNone(names));
          if (isListed(hostname, judged, exceptions)) return straight(target, callback);
          const host = names ? hostname : (judged.find((each) => isIP(each) === 4) ?? judged[0] ?? hostname);
          const socket = await tunnel(url, host, port, timeout);
          if (protocol !== "https:") return callback(null, socket);
          upgrade({ ...target, httpSocket: socket }, callback);
        };
        connect().catch((err: unknown) => callback(err instanceof Error ? err : new Error(String(err)), null));
      };
    },
  };
}

function orNone(mayBeUnknown: boolean): (err: unknown) => readonly string[] {
  return (err) => {
    if (mayBeUnknown) return [];
    throw err;
  };
}

/** What the look-up of a checked connection answers; none where hosts are reached unchecked. */
function judgedAddresses(host: string, lookup: LookupFunction | undefined): Promise<readonly string[]> {
  if (isIP(host) !== 0) return Promise.resolve([host]);
  if (lookup === undefined) return Promise.resolve([]);
  return new Promise((resolve, reject) => {
    lookup(host, { all: true }, (err, addresses) => {
      if (err !== null) reject(err);
      else resolve(Array.isArray(addresses) ? addresses.map(({ address }) => address) : [addresses]);
    });
  });
}

/** Whether a host is in the list by its name, or all its addresses are by a range. */
function isListed(host: string, addresses: readonly string[], list: readonly string[]): boolean {
  const name = host.toLowerCase().replace(/\.$/, "");
  const inRange = (address: string): boolean =>
    list.some((item) => {
      if (!ipaddr.isValidCIDR(item)) return item === address;
      const [[base, bits], parsed] = [ipaddr.parseCIDR(item), ipaddr.process(address)];
      return base.kind() === parsed.kind() && parsed.match(base, bits);
    });
  return (
    list.some((item) => (item.startsWith(".") ? name.endsWith(item) : name === item)) ||
    (addresses.length > 0 && addresses.every(inRange))
  );
}

/** A connection to a host by the proxy. */
function tunnel(proxy: URL, host: string, port: number, timeout: number): Promise<Socket> {
  const authority = `${isIP(host) === 6 ? `[${host}]` : host}:${port}`;
  const send = proxy.protocol === "https:" ? httpsRequest : httpRequest;
  return new Promise((resolve, reject) => {
    const fail = (why: string, cause?: unknown): void => reject(new Error(`the proxy ${proxy.host} ${why}`, { cause }));
    const request = send({
      method: "CONNECT",
      host: proxy.hostname.replace(/^\[|\]$/g, ""),
      port: proxy.port === "" ? (proxy.protocol === "https:" ? 443 : 80) : Number(proxy.port),
      path: authority,
      headers: { host: authority },
      agent: false,
      signal: AbortSignal.timeout(timeout),
    });
    request.on("connect", ({ statusCode = 0 }, socket, head) => {
      if (statusCode >= 200 && statusCode < 300) {
        if (head.length > 0) socket.unshift(head);
        return resolve(socket);
      }
      socket.destroy();
      fail(`refused ${authority} with ${statusCode}`);
    });
    request.on("response", (response) => {
      response.destroy();
      fail(`refused ${authority} with ${response.statusCode ?? 0}`);
    });
    request.on("error", (err) =>
      fail(
        err.name === "AbortError" || err.name === "TimeoutError"
          ? `did not reply in ${timeout} ms`
          : `cannot be reached: ${err.message}`,
        err,
      ),
    );
    request.end();
  });
}
