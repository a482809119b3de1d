import { mkdir, rm } from "node:fs/promises";
import { join, resolve } from "node:path";

import { secretDirectories } from "../../../api/names.ts";
import type { EnginePlace, OpenEngine } from "../../../core/ports/engine.ts";
import { FileSecretStore } from "../../files/file-secret-store.ts";
import { SecretViews } from "../../files/secret-views.ts";
import { EndedLogs } from "../../replica-logs/ended-logs.ts";
import { DockerLogSource } from "./docker-log-source.ts";
import { DockerReplicas } from "./docker-replicas.ts";
import { checkEngine } from "./engine/docker-socket.ts";
import { DockerUsage } from "./docker-usage.ts";
import { EngineClient } from "./engine/engine-client.ts";
import { HostFirewall } from "../firewall/host-firewall.ts";
import { Images } from "./images/images.ts";
import { instanceName } from "./instance-name.ts";
import { Networks } from "./networks.ts";

/**
 * Options of the provider. The caller owns `data` exclusively; notes and secrets of running functions are kept there.
 */
export interface DockerProviderOptions extends Omit<EnginePlace, "logs" | "run" | "snapshots"> {
  /** Address of the engine: the path of its socket, or `tcp://host:port`. */
  readonly socket: string;
  /**
   * At most 16 characters of a to z and 0 to 9, unique per data directory; absent: generated and stored below `data`.
   */
  readonly instance?: string;
}

/** Runs functions as containers of this host's engine. */
export interface DockerProvider extends OpenEngine {
  /** Addresses of this host at which functions call the gateway. */
  bridgeAddresses(): string[];
}

/** Functions run as this user and group where this process is root. */
const functionUser = 12_000;

/**
 * Adopts containers that an earlier process of the same data directory left running, and removes its other leftovers.
 * @throws PlatformError `provider_unavailable` when no engine responds, or it cannot be used from here
 */
export async function openDockerProvider(options: DockerProviderOptions): Promise<DockerProvider> {
  const { data, log } = options;
  const engine = new EngineClient(options.socket);
  const directory = join(resolve(data), "docker");
  try {
    const { cpus } = await checkEngine(engine);
    const instance = options.instance ?? (await instanceName(join(directory, "instance")));
    const firewall = new HostFirewall({ instance, gatewayPort: options.gatewayPort, log });
    const networks = new Networks({ engine, instance, firewall, log });
    const views = await openViews(directory, options.secrets);
    const endedLogs = new EndedLogs(join(directory, "logs"));
    await endedLogs.removeUnfinished();
    const replicas = new DockerReplicas({
      engine,
      instance,
      cpus,
      defaultLimits: options.defaultLimits,
      views,
      images: new Images(engine),
      networks,
      firewall,
      user: process.getuid?.() === 0 ? functionUser : undefined,
      gatewayNames: gatewayNames(options.platformNamespace),
      endedLogs,
      log,
    });
    await networks.open();
    await replicas.open();
    let closing: Promise<void> | undefined;
    const close = async (): Promise<void> => {
      try {
        await replicas.close();
        await rm(join(directory, "secrets"), { recursive: true, force: true });
        await rm(join(directory, "staging"), { recursive: true, force: true });
      } finally {
        await engine.close();
      }
    };
    return {
      replicas,
      secrets: new FileSecretStore(options.secrets, (ref) => views.update(ref)),
      logs: new DockerLogSource(engine, replicas, endedLogs),
      usage: new DockerUsage(engine, (ref) => replicas.containersOf(ref)),
      isolation: "a container per replica, a network per namespace",
      secretsDirectory: () => secretDirectories[0],
      bridgeAddresses: () => networks.addresses(),
      onAddresses: (listener) => networks.onAddresses(listener),
      close: () => (closing ??= close()),
      closeNow: async () => {
        await replicas.endNow();
        await (closing ??= close());
      },
    };
  } catch (err) {
    await engine.close();
    throw err;
  }
}

async function openViews(directory: string, source: string): Promise<SecretViews> {
  const views = join(directory, "secrets");
  await mkdir(views, { recursive: true, mode: 0o700 });
  return new SecretViews({ source, directory: views, staging: join(directory, "staging") });
}

/** Names with a final dot, too: the dot saves look-ups, and in a hosts file it is part of the name. */
function gatewayNames(platformNamespace: string): string[] {
  const short = `gateway.${platformNamespace}`;
  const long = `${short}.svc.cluster.local`;
  return [short, long, `${short}.`, `${long}.`];
}
