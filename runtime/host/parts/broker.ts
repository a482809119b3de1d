import { NatsLink } from "../../adapters/nats/link/nats-link.ts";
import { findNatsServer } from "../../adapters/nats/server/find-nats-server.ts";
import { NatsServerProcess, type NatsServerEvent } from "../../adapters/nats/server/nats-server-process.ts";
import { listSetAside, noteRecreated } from "../../adapters/nats/server/store-recovery.ts";
import { storedPart } from "../../adapters/nats/stored-parts.ts";
import { mostCalls } from "../../adapters/nats/streams.ts";
import { natsUsers } from "../../api/broker/nats-users.ts";
import type { SetAsidePart } from "../../api/schemas/system-info.ts";
import type { Log } from "../../process/log.ts";
import { environment } from "../../process/settings.ts";
import { checkStore } from "../check-store.ts";
import type { HostStart } from "./host-start.ts";
import type { HostPlace } from "./place.ts";

/** The broker, a child of this process. */
export interface Broker {
  readonly nats: NatsServerProcess;
  /** Bytes it may store, and calls that fit at a time. */
  readonly store: { readonly bytes: number; readonly calls: number };
  /** What it could not recover, as `/system/info` says it. */
  readonly setAside: readonly SetAsidePart[];
  /** Names of what of that is to be created again, as `--recreate` takes them. */
  readonly recreate: readonly string[];
  /** Notes that it was. */
  readonly onRecreated: () => Promise<void>;
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
    setAside: layout.setAside,
    ports: { port: settings.natsPort, monitorPort: settings.natsMonitorPort },
    durability: settings.durability,
    payloadLimit: settings.asyncMaxBody,
    users: natsUsers({ queues: queues.map(({ name }) => name), oneMachine: true }),
    onEvent: (event) => logEvent(log, event),
  });
  lifecycle.onClose("nats-server", () => nats.close());
  // The broker gets its signal even if this process exits without closing its parts.
  process.once("exit", () => nats.pid !== undefined && process.kill(nats.pid, "SIGTERM"));

  // Also keeps the copies of configurations that a store of an earlier release has none of.
  await nats.sync();
  const aside = await listSetAside(layout.setAside);

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
  return {
    nats,
    store,
    setAside: aside.map(({ stream, path, reason, at }) => {
      const { name, loss } = storedPart(stream);
      return { part: name, reason, loss, path, at };
    }),
    recreate: aside.flatMap(({ stream, isRecreated }) => (isRecreated ? [] : (storedPart(stream).recreate ?? []))),
    onRecreated: () => noteRecreated(layout.setAside),
    connect,
  };
}

function logEvent(log: Log, event: NatsServerEvent): void {
  switch (event.kind) {
    case "set-aside": {
      const { name: part, loss } = storedPart(event.stream);
      const { reason, path } = event;
      log.error(
        { part, reason, loss, path },
        "a part of the store cannot be recovered: it was set aside, the rest serves",
      );
      return;
    }
    case "restored":
      log.warn(
        { part: storedPart(event.stream).name, reason: event.reason },
        "restored the configuration of a part of the store from its copy; nothing is lost",
      );
      return;
    case "removed":
      log.warn(
        { part: storedPart(event.stream).name, reason: event.reason },
        "removed a part of the store that held nothing",
      );
      return;
    case "ended":
    case "restarted":
    case "restart-failed":
      log.warn(event, "nats-server");
      return;
    default:
      event satisfies never;
  }
}
