import { jetstreamManager, type JetStreamManager } from "@nats-io/jetstream";
import type { NatsConnection } from "@nats-io/transport-node";

import { dialBroker } from "../../runtime/adapters/nats/link/broker-transport.ts";
import type { NatsOptions } from "../../runtime/adapters/nats/link/nats-link.ts";
import { compareVersions, oldestVersion } from "../../runtime/adapters/nats/server/nats-server-version.ts";

/** A connection to the broker for one command, which ends when the connection is lost. */
export interface Broker extends AsyncDisposable {
  readonly nc: NatsConnection;
  readonly jsm: JetStreamManager;
  /** Of the server, e.g. `2.15.1`. */
  readonly version: string;
  /** Prefix of the inboxes that this user may read. */
  readonly inboxPrefix: string;
}

export interface BrokerOptions extends Omit<NatsOptions, "name" | "pingInterval"> {
  /** Name in the server's certificate, if it is reached by a different one. */
  readonly tlsName?: string | undefined;
}

const requestTimeout = 10_000;

/**
 * Connects once.
 * @throws Error when the broker does not respond, refuses the user, or is too old
 */
export async function openBroker(options: BrokerOptions): Promise<Broker> {
  const { url, user, password, ca, tlsName, inboxPrefix } = options;
  const tls = { ...(ca === undefined ? {} : { ca }), ...(tlsName === undefined ? {} : { servername: tlsName }) };
  const nc = await dialBroker({
    url,
    name: "backup",
    ...(user === undefined ? {} : { user, pass: password ?? "" }),
    ...(Object.keys(tls).length === 0 ? {} : { tls }),
    inboxPrefix,
    reconnect: false,
    pingInterval: 5_000,
    maxPingOut: 2,
  }).catch((cause: unknown) => {
    const because = cause instanceof Error ? cause.message : String(cause);
    throw new Error(`Cannot reach the broker at "${url}": ${because.toLowerCase()}`, { cause });
  });
  const version = nc.info?.version ?? "";
  if (compareVersions(version, oldestVersion) < 0) {
    await nc.close();
    throw new Error(
      `Cannot use the broker at "${url}": it is nats-server ${version}, and ${oldestVersion} or newer is needed`,
    );
  }
  const jsm = await jetstreamManager(nc, { timeout: requestTimeout, checkAPI: false });
  return { nc, jsm, version, inboxPrefix, [Symbol.asyncDispose]: () => nc.close() };
}

/** Names of all streams of the broker. */
export async function streamNames({ jsm }: Pick<Broker, "jsm">): Promise<readonly string[]> {
  const names: string[] = [];
  for await (const name of jsm.streams.names()) names.push(name);
  return names;
}
