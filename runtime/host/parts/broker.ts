import { NatsLink } from "../../adapters/nats/link/nats-link.ts";
import { findNatsServer } from "../../adapters/nats/server/find-nats-server.ts";
import { NatsServerProcess } from "../../adapters/nats/server/nats-server-process.ts";
import { mostCalls } from "../../adapters/nats/streams.ts";
import { natsUsers } from "../../api/broker/nats-users.ts";
import { environment } from "../../process/settings.ts";
import { checkStore } from "../check-store.ts";
import type { HostStart } from "./host-start.ts";
import type { HostPlace } from "./place.ts";

/** The broker, a child of this process. */
export interface Broker {
  readonly nats: NatsServerProcess;
  /** Bytes it may store, and calls that fit at a time. */
  readonly store: { readonly bytes: number; readonly calls: number };
  /** Connects as one of its users; closed with this process. */
  readonly connect: (user: string) => Promise<NatsLink>;
}

/** Starts the broker; refuses a store that is too small. */
export async function openBroker({
  settings,
  queues,
  log,
  say,
  lifecycle,
  layout,
}: HostStart & HostPlace): Promise<Broker> {
  const binary = await findNatsServer({ path: settings.natsServer, environment: environment(), say });
  const nats = await NatsServerProcess.open({
    binary,
    directory: layout.nats,
    ports: { port: settings.natsPort, monitorPort: settings.natsMonitorPort },
    durability: settings.durability,
    payloadLimit: settings.asyncMaxBody,
    users: natsUsers({ queues: queues.map(({ name }) => name), oneMachine: true }),
    onEvent: (event) => log.warn(event, "nats-server"),
  });
  lifecycle.onClose("nats-server", () => nats.close());
  // The broker gets its signal even if this process exits without closing its parts.
  process.once("exit", () => nats.pid !== undefined && process.kill(nats.pid, "SIGTERM"));

  const store = { bytes: nats.maxFileStore, calls: mostCalls({ ...settings, maxFileStore: nats.maxFileStore }) };
  checkStore(store, layout.nats, settings);
  const connect = async (user: string): Promise<NatsLink> => {
    const { natsPingInterval: pingInterval } = settings;
    const link = await NatsLink.open({
      ...nats.access(user),
      name: user,
      pingInterval,
      monitorUrls: [nats.monitorUrl],
    });
    lifecycle.onClose(`broker connection of ${user}`, () => link.close());
    return link;
  };
  return { nats, store, connect };
}
