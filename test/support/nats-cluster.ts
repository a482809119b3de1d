import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { formatNatsServerConfig } from "../../runtime/adapters/nats/server/nats-server-config.ts";
import { startNatsServer, type RunningNatsServer } from "../../runtime/adapters/nats/server/start-nats-server.ts";
import { eventually } from "./eventually.ts";
import { freePort } from "./free-port.ts";
import { killAtExit } from "./kill-at-exit.ts";
import { natsServerPath } from "./nats-server.ts";
import { tempDirectory } from "./temp-directory.ts";

/** One of the servers of a cluster. */
export interface ClusterServer {
  readonly name: string;
  readonly url: string;
  /** Sends SIGKILL and waits until it is gone. */
  kill(): Promise<void>;
  /** Starts it again on the same ports and store. */
  restart(): Promise<void>;
}

/** Real nats-servers that replicate their streams, as on Kubernetes; anybody may do anything. */
export interface NatsCluster {
  readonly servers: readonly ClusterServer[];
  /** Addresses of all, as one setting. */
  readonly urls: readonly string[];
  /** Ends them and removes everything. */
  close(): Promise<void>;
}

const startTimeout = 30_000;
const gibibyte = 1_073_741_824;

/** Starts three and resolves when they have elected a leader. */
export async function openNatsCluster(): Promise<NatsCluster> {
  const binary = await natsServerPath();
  const directory = await tempDirectory("nats-cluster");
  const places: { name: string; port: number; monitorPort: number; routePort: number }[] = [];
  for (const name of ["nats-0", "nats-1", "nats-2"]) {
    places.push({ name, port: await freePort(), monitorPort: await freePort(), routePort: await freePort() });
  }
  const routes = places.map(({ routePort }) => `nats://127.0.0.1:${routePort}`);
  const servers: (ClusterServer & { end(): Promise<void> })[] = [];
  const close = async (): Promise<void> => {
    await Promise.all(servers.map((server) => server.end()));
    await directory.remove();
  };
  try {
    for (const { name, port, monitorPort, routePort } of places) {
      const home = join(directory.path, name);
      await mkdir(home);
      const configFile = join(home, "nats-server.json");
      const logFile = join(home, "nats-server.log");
      const config = formatNatsServerConfig({
        port,
        monitorPort,
        serverName: name,
        storeDirectory: join(home, "store"),
        maxFileStore: gibibyte,
        durability: "interval",
        payloadLimit: 1_048_576,
        logFile,
        pidFile: join(home, "nats-server.pid"),
        users: [],
        passwords: {},
      });
      const cluster = { name: "weir-test", listen: `127.0.0.1:${routePort}`, routes };
      await writeFile(configFile, JSON.stringify({ ...JSON.parse(config), cluster }));
      let running: RunningNatsServer | undefined;
      const start = async (): Promise<void> => {
        running = await startNatsServer({ binary, configFile, logFile, monitorPort, timeout: startTimeout });
        killAtExit(running.process);
      };
      const kill = async (): Promise<void> => {
        running?.process.kill("SIGKILL");
        await running?.ended;
        running = undefined;
      };
      servers.push({ name, url: `nats://127.0.0.1:${port}`, kill, restart: start, end: kill });
    }
    // None of them is healthy before it has found another.
    await Promise.all(servers.map((server) => server.restart()));
    await Promise.all(
      places.map(({ monitorPort, name }) =>
        eventually(async () => (await fetch(`http://127.0.0.1:${monitorPort}/healthz`)).status === 200, {
          what: `${name} to be well`,
        }),
      ),
    );
  } catch (err) {
    await close();
    throw err;
  }
  return { servers, urls: servers.map(({ url }) => url), close };
}
