import { lookup } from "node:dns";

import { NatsConnectionImpl, setTransportFactory, TimeoutError } from "@nats-io/transport-node";
import type { ConnectionOptions, NatsConnection, Server } from "@nats-io/transport-node";
import { NodeTransport } from "@nats-io/transport-node/lib/node_transport.js";

import { brokerAddresses } from "../../../api/broker/broker-addresses.ts";

/** Milliseconds that one address gets: once to be looked up, once to accept a connection and answer. */
export const dialTimeout = 2_000;

/**
 * The client's own transport, but for two ways in which a server that hangs keeps it: its `disconnect` flushes first, and
 * so never ends; and a dial that is given up leaves its socket, which makes a second connection once the server answers.
 */
class BrokerTransport extends NodeTransport {
  override disconnect(): void {
    this.socket?.destroy();
  }

  override async close(err?: Error): Promise<void> {
    if (this.connected) await super.close(err);
    else this.discard();
  }
}

/** How to dial. The rest is decided here, alike for all who use the broker. */
export interface DialOptions extends Omit<ConnectionOptions, "servers" | "timeout" | "reconnectToServer" | "resolve"> {
  /** Addresses of the servers, separated by commas. */
  readonly url: string;
}

/**
 * Connects to the first of the servers that answers, and after a loss to the one that was tried longest ago. Rejects with
 * the last error when none of them answers.
 */
export async function dialBroker({ url, ...options }: DialOptions): Promise<NatsConnection> {
  const servers = brokerAddresses(url);
  setTransportFactory({ factory: () => new BrokerTransport(), dnsResolveFn: addressesOf });
  return NatsConnectionImpl.connect({
    ...options,
    // Else a server without encryption gets the password.
    ...(options.tls === undefined && servers.some((each) => each.startsWith("tls://")) ? { tls: {} } : {}),
    servers,
    timeout: dialTimeout,
    reconnectToServer: longestUntried,
  });
}

/** The client itself begins with the server that it has just lost. */
function longestUntried(servers: readonly Server[]): Server | null {
  return servers.reduce<Server | null>(
    (best, each) => (best === null || each.lastConnect < best.lastConnect ? each : best),
    null,
  );
}

/** IP addresses of a host; a resolver that does not answer is given up. */
function addressesOf(host: string): Promise<string[]> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new TimeoutError()), dialTimeout);
    lookup(host, { all: true }, (err, found) => {
      clearTimeout(timer);
      if (err === null) resolve(found.map(({ address }) => address));
      else reject(err);
    });
  });
}
