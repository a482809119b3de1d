import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { natsPodHost, natsPods, natsPort } from "../../infra/manifests/broker/nats-addresses.ts";
import { brokerAccounts, natsConfig, natsDirectory } from "../../infra/manifests/broker/nats-config.ts";
import type { Platform } from "../../infra/manifests/platform.ts";
import { secretManifests } from "../../infra/manifests/secrets.ts";
import { startNatsServer, type RunningNatsServer } from "../../runtime/adapters/nats/server/start-nats-server.ts";
import { freePort } from "./free-port.ts";
import { killAtExit } from "./kill-at-exit.ts";
import { secretValues } from "./manifest-platform.ts";
import { natsServerPath } from "./nats-server.ts";
import { selfSigned } from "./self-signed.ts";
import { tempDirectory, type TempDirectory } from "./temp-directory.ts";

/** The files of one server's pod, as the Pulumi program makes them. */
export interface PlacedBroker {
  readonly directory: TempDirectory;
  readonly configFile: string;
  readonly port: number;
  readonly monitorPort: number;
  /** PEM of the authority that signed its certificate. */
  readonly authority: string;
}

/** How a process connects as one user. */
export interface StackBrokerAccess {
  readonly user: string;
  readonly password: string;
  readonly inboxPrefix: string;
}

const startTimeout = 30_000;
let certificate: ReturnType<typeof selfSigned> | undefined;

/**
 * Writes what a server's pod mounts. Only listeners, paths and the hosts of pods are this machine's; `routes` are the
 * ports of all servers of a cluster.
 */
export async function placeStackBroker(
  platform: Platform,
  routes: readonly number[] = [],
  index = 0,
): Promise<PlacedBroker> {
  const directory = await tempDirectory("stack-broker");
  certificate ??= selfSigned();
  const { cert, key } = await certificate;
  const authority = cert.toString();
  const tls = { certificate: authority, key: key.toString(), authority };
  const here = (text: string): string =>
    natsPods(platform).reduce(
      (moved, pod, number) =>
        moved.replace(
          `${natsPodHost(platform, pod)}:${natsPort.route}`,
          `127.0.0.1:${routes[number] ?? natsPort.route}`,
        ),
      text,
    );
  for (const folder of ["secrets", "tls"]) await mkdir(join(directory.path, folder));
  for (const { metadata, ...secret } of secretManifests(platform, secretValues(platform, tls))) {
    const content = secret["stringData"] as Readonly<Record<string, string>>;
    for (const [file, value] of Object.entries(content)) {
      if (file === "nats.conf") await writeFile(join(directory.path, "secrets", `${metadata.name}.conf`), here(value));
      else if (metadata.name === "nats-tls") await writeFile(join(directory.path, "tls", file), value);
    }
  }
  const [port, monitorPort] = [await freePort(), await freePort()];
  const config = natsConfig(platform)
    .replace(`0.0.0.0:${natsPort.client}`, `127.0.0.1:${port}`)
    .replace(`0.0.0.0:${natsPort.monitor}`, `127.0.0.1:${monitorPort}`)
    .replace(`0.0.0.0:${natsPort.route}`, `127.0.0.1:${routes[index] ?? natsPort.route}`)
    .replace(`"${natsDirectory.store}"`, JSON.stringify(join(directory.path, "store")))
    .replaceAll(natsDirectory.tls, join(directory.path, "tls"));
  const configFile = join(directory.path, "nats.conf");
  // The pod passes its name as a flag.
  await writeFile(configFile, `server_name: "nats-${index}"\n${config}`);
  return { directory, configFile, port, monitorPort, authority };
}

/** Starts such a server and waits until it is healthy. */
export async function startStackBroker({
  directory,
  configFile,
  monitorPort,
}: PlacedBroker): Promise<RunningNatsServer> {
  const logFile = join(directory.path, "nats.log");
  const binary = await natsServerPath();
  const running = await startNatsServer({ binary, configFile, logFile, monitorPort, timeout: startTimeout });
  killAtExit(running.process);
  return running;
}

/** What a process knows of one user. */
export function stackBrokerAccess(platform: Platform, name: string): StackBrokerAccess {
  const found = brokerAccounts(platform).find(({ user }) => user.name === name);
  const password = found === undefined ? undefined : secretValues(platform).brokerPasswords[found.secret];
  if (found === undefined || password === undefined) throw new Error(`no user "${name}"`);
  return { user: name, password, inboxPrefix: found.user.inboxPrefix };
}
