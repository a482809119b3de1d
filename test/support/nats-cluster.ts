import { readPlatform } from "../../infra/manifests/read-platform.ts";
import type { NatsOptions } from "../../runtime/adapters/nats/link/nats-link.ts";
import type { RunningNatsServer } from "../../runtime/adapters/nats/server/start-nats-server.ts";
import { eventually } from "./eventually.ts";
import { freePort } from "./free-port.ts";
import { isStopped } from "./process-facts.ts";
import { placeStackBroker, stackBrokerAccess, startStackBroker, type PlacedBroker } from "./stack-brokers.ts";

/** One of the servers of a cluster. */
export interface ClusterServer {
  readonly name: string;
  readonly url: string;
  readonly monitorUrl: string;
  /** Sends a signal, by default SIGKILL, and waits until it is gone. */
  end(signal?: NodeJS.Signals): Promise<void>;
  /** Sends a signal that it survives. */
  signal(signal: NodeJS.Signals): void;
  /** Sends SIGSTOP and waits until it has reached every thread. */
  pause(): Promise<void>;
  resume(): void;
  /** Starts it again on the same ports and store. */
  restart(): Promise<void>;
}

/** Three real nats-servers with the configuration of the Pulumi program: users, TLS, encrypted stores, no gossip. */
export interface NatsCluster {
  readonly servers: readonly ClusterServer[];
  /** Addresses of all, or of some in that order, as one setting. */
  url(servers?: readonly ClusterServer[]): string;
  /** How a process connects as `user`, to all or to some servers. */
  access(user: string, servers?: readonly ClusterServer[]): NatsOptions;
  /** Waits until every server that runs agrees with the others on all that is stored. */
  untilWell(): Promise<void>;
  /** Ends them and removes everything. */
  close(): Promise<void>;
}

/** Starts three and resolves when they have elected a leader. */
export async function openNatsCluster(): Promise<NatsCluster> {
  const platform = readPlatform({ nats: { replicas: 3 } });
  const routes = [await freePort(), await freePort(), await freePort()];
  const placed: PlacedBroker[] = [];
  for (const index of routes.keys()) placed.push(await placeStackBroker(platform, routes, index));
  const servers = placed.map((each, index) => serverAt(each, `nats-${index}`));
  const [first] = placed;
  if (first === undefined) throw new Error("no server");
  const cluster: NatsCluster = {
    servers,
    url: (some = servers) => some.map(({ url }) => url).join(","),
    access: (user, some) => ({
      url: cluster.url(some),
      name: user,
      ...stackBrokerAccess(platform, user),
      ca: first.authority,
      pingInterval: 5_000,
    }),
    untilWell: async () => {
      for (const { monitorUrl, name } of servers)
        await eventually(async () => (await fetch(`${monitorUrl}/healthz`)).status === 200, {
          what: `${name} to be well`,
        });
    },
    close: async () => {
      await Promise.all(servers.map((server) => server.end()));
      await Promise.all(placed.map(({ directory }) => directory.remove()));
    },
  };
  try {
    // None of them is healthy before it has found another.
    await Promise.all(servers.map((server) => server.restart()));
    await cluster.untilWell();
  } catch (err) {
    await cluster.close();
    throw err;
  }
  return cluster;
}

function serverAt(placed: PlacedBroker, name: string): ClusterServer {
  let running: RunningNatsServer | undefined;
  return {
    name,
    url: `tls://localhost:${placed.port}`,
    monitorUrl: `http://127.0.0.1:${placed.monitorPort}`,
    end: async (signal = "SIGKILL") => {
      running?.process.kill(signal);
      running?.process.kill("SIGCONT");
      await running?.ended;
      running = undefined;
    },
    signal: (signal) => void running?.process.kill(signal),
    pause: async () => {
      running?.process.kill("SIGSTOP");
      const pid = running?.process.pid;
      if (pid !== undefined) await eventually(() => isStopped(pid), { every: 1, what: `${name} to stand still` });
    },
    resume: () => void running?.process.kill("SIGCONT"),
    restart: async () => {
      running = await startStackBroker(placed);
    },
  };
}
