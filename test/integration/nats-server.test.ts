import { chmod, mkdir, readFile, stat, writeFile } from "node:fs/promises";
import { createServer, type AddressInfo, type Server } from "node:net";
import { once } from "node:events";
import { join } from "node:path";

import { jetstreamManager } from "@nats-io/jetstream";
import { connect, type NatsConnection } from "@nats-io/transport-node";
import { afterEach, beforeEach, describe, expect, test } from "vitest";

import { findNatsServer, type NatsServerBinary } from "../../runtime/adapters/nats/server/find-nats-server.ts";
import {
  NatsServerProcess,
  type NatsServerEvent,
  type NatsServerOptions,
} from "../../runtime/adapters/nats/server/nats-server-process.ts";
import { natsUsers } from "../../runtime/api/broker/nats-users.ts";
import { startNatsServer } from "../../runtime/adapters/nats/server/start-nats-server.ts";
import { environment } from "../../runtime/process/settings.ts";
import { eventually } from "../support/eventually.ts";
import { natsServerPath, openNatsServer } from "../support/nats-server.ts";
import { tempDirectory, type TempDirectory } from "../support/temp-directory.ts";

let place: TempDirectory;
let directory: string;
let binary: NatsServerBinary;
let events: NatsServerEvent[];
const opened: { close(): Promise<void> }[] = [];

function options(): NatsServerOptions {
  return {
    binary,
    directory,
    ports: { port: 0, monitorPort: 0 },
    durability: "interval",
    payloadLimit: 1_048_576,
    users: natsUsers({ queues: ["default"], oneMachine: true }),
    onEvent: (event) => void events.push(event),
  };
}

async function open(changes: Partial<NatsServerOptions> = {}): Promise<NatsServerProcess> {
  const server = await NatsServerProcess.open({ ...options(), ...changes });
  opened.push(server);
  return server;
}

async function connectAs(server: NatsServerProcess, user: string): Promise<NatsConnection> {
  const { url, password, inboxPrefix } = server.access(user);
  return connect({ servers: url, user, pass: password, inboxPrefix, reconnect: false });
}

async function modeOf(path: string): Promise<number> {
  return (await stat(path)).mode & 0o777;
}

function isRunning(pid: number | undefined): boolean {
  try {
    process.kill(pid ?? 0, 0);
    return true;
  } catch {
    return false;
  }
}

async function occupy(port = 0): Promise<{ server: Server; port: number }> {
  const server = createServer();
  server.listen(port, "127.0.0.1");
  await once(server, "listening");
  return { server, port: (server.address() as AddressInfo).port };
}

beforeEach(async () => {
  place = await tempDirectory("nats-server");
  directory = join(place.path, "nats");
  binary = await findNatsServer({ path: await natsServerPath(), environment: environment(), say: () => undefined });
  events = [];
});

afterEach(async () => {
  for (const server of opened.splice(0)) await server.close();
  await place.remove();
});

describe("NatsServerProcess", () => {
  test("serves its users and keeps what they stored, on the same ports", async () => {
    const first = await open();
    const connection = await connectAs(first, "doctor");
    await (await jetstreamManager(connection)).streams.add({ name: "Q_default", subjects: ["q.default.>"] });
    await connection.close();
    expect(await modeOf(directory)).toBe(0o700);
    expect(await modeOf(join(directory, "users.json"))).toBe(0o600);
    expect(await modeOf(join(directory, "nats-server.json"))).toBe(0o600);
    const password = first.access("doctor").password;
    const { pid } = first;
    await first.close();
    expect(isRunning(pid)).toBe(false);
    await expect(stat(join(directory, "nats-server.pid"))).rejects.toThrow("ENOENT");

    const second = await open();
    expect(second.url).toBe(first.url);
    expect(second.monitorUrl).toBe(first.monitorUrl);
    expect(second.maxFileStore).toBe(first.maxFileStore);
    expect(second.access("doctor").password).toBe(password);
    const again = await connectAs(second, "doctor");
    expect(await (await jetstreamManager(again)).streams.names().next()).toEqual(["Q_default"]);
    await again.close();
    expect(events).toEqual([]);
  });

  test("refuses a connection without a password", async () => {
    const server = await open();
    await expect(connect({ servers: server.url, reconnect: false })).rejects.toThrow(/authorization/i);
    expect(() => server.access("nobody")).toThrow('Cannot connect to nats-server as "nobody": no such user');
  });

  test("is restarted on the same port when it dies", async () => {
    const server = await open();
    const { pid } = server;
    process.kill(pid ?? 0, "SIGKILL");
    await eventually(() => events.length === 2, { what: "the restart" });
    expect(events).toEqual([{ kind: "ended", how: "SIGKILL", restartIn: 250 }, { kind: "restarted" }]);
    expect(server.pid).not.toBe(pid);
    await (await connectAs(server, "gateway")).close();
  });

  test("runs in its own process group, out of reach of Ctrl-C", async () => {
    const server = await open();
    expect(() => process.kill(-(server.pid ?? 0), 0)).not.toThrow();
  });

  test("can be closed while it waits for its restart", async () => {
    const server = await open();
    process.kill(server.pid ?? 0, "SIGKILL");
    await eventually(() => events.length === 1, { what: "the end" });
    await server.close();
    expect(server.pid).toBeUndefined();
    expect(events).toHaveLength(1);
  });

  test("ends a server that a killed host left behind", async () => {
    const first = await open();
    await first.close();
    const files = { configFile: join(directory, "nats-server.json"), logFile: join(directory, "nats-server.log") };
    const monitorPort = Number(new URL(first.monitorUrl).port);
    const left = await startNatsServer({ binary: binary.path, ...files, monitorPort, timeout: 20_000 });
    const server = await open();
    await left.ended;
    expect(server.url).toBe(first.url);
    expect(server.pid).not.toBe(left.process.pid);
    await (await connectAs(server, "gateway")).close();
  });

  test("touches no other process whose id is in its pid file", async () => {
    await mkdir(directory, { recursive: true });
    await writeFile(join(directory, "nats-server.pid"), String(process.ppid));
    await open();
    expect(isRunning(process.ppid)).toBe(true);
  });

  test("says which port is taken and how to choose another", async () => {
    const { server, port } = await occupy();
    await expect(open({ ports: { port, monitorPort: 0 } })).rejects.toThrow(
      `Cannot start nats-server on port ${port}: it is in use; stop what uses it or choose another with --nats-port`,
    );
    await expect(open({ ports: { port: 0, monitorPort: port } })).rejects.toThrow(
      "choose another with --nats-monitor-port",
    );
    server.close();
  });

  test("chooses another free port when the noted one is in use meanwhile", async () => {
    const first = await open();
    await first.close();
    const { server } = await occupy(Number(new URL(first.url).port));
    const second = await open();
    expect(second.url).not.toBe(first.url);
    server.close();
  });

  test("says what is wrong with a server that does not start", async () => {
    const broken = join(place.path, "broken");
    await writeFile(broken, "#!/bin/sh\necho 'nats-server: no luck today' >&2\nexit 3\n");
    await chmod(broken, 0o755);
    await expect(open({ binary: { ...binary, path: broken } })).rejects.toThrow(
      `Cannot start nats-server "${broken}": it ended with exit code 3 (nats-server: no luck today); see "`,
    );
    const missing = join(place.path, "missing");
    await expect(open({ binary: { ...binary, path: missing } })).rejects.toThrow(
      `Cannot start nats-server "${missing}": spawn ${missing} ENOENT`,
    );
  });

  test("refuses a server older than the one that wrote the store", async () => {
    await (await open()).close();
    // Only a store that holds something binds to a version.
    await mkdir(join(directory, "store"), { recursive: true });
    await writeFile(join(directory, "store", "kept"), "something");
    const note = join(directory, "store.json");
    const noted = JSON.parse(await readFile(note, "utf8")) as object;
    await writeFile(note, JSON.stringify({ ...noted, version: "2.99.0" }));
    await writeFile(join(directory, "store", "stored"), "something");
    await expect(open()).rejects.toThrow(
      `Cannot start nats-server ${binary.version}: version 2.99.0 wrote the store, and going back can break it; ` +
        "use nats-server 2.99 or newer",
    );
  });

  test("a newer server that never stored anything does not bind to its version", async () => {
    const broken = join(place.path, "newer");
    await writeFile(broken, "#!/bin/sh\nexit 3\n", { mode: 0o755 });
    await expect(open({ binary: { ...binary, path: broken, version: "2.99.0" } })).rejects.toThrow("exit code 3");
    expect((await open()).version).toBe(binary.version);
  });

  test("stores no more than it is told", async () => {
    const server = await open({ maxFileStore: 100 * 1_048_576 });
    expect(server.maxFileStore).toBe(100 * 1_048_576);
    const jetStream = (await (await fetch(`${server.monitorUrl}/jsz`)).json()) as { config: Record<string, unknown> };
    expect(jetStream.config).toMatchObject({ max_storage: 100 * 1_048_576, sync_interval: 100_000_000 });
  });

  test("syncs every write when durability is always", async () => {
    const server = await open({ durability: "always" });
    const jetStream = (await (await fetch(`${server.monitorUrl}/jsz`)).json()) as { config: Record<string, unknown> };
    expect(jetStream.config).toMatchObject({ sync_always: true });
  });
});

describe("the nats-server of tests", () => {
  test("can be killed, stopped, paused and started again with its store", async () => {
    const server = await openNatsServer();
    opened.push(server);
    const connection = await connect({ servers: server.url, reconnectTimeWait: 50, maxReconnectAttempts: -1 });
    const manager = await jetstreamManager(connection, { timeout: 500 });
    await manager.streams.add({ name: "KEPT", subjects: ["kept"] });
    for (const end of [server.kill, server.stop]) {
      await end();
      expect(server.pid).toBeUndefined();
      await server.restart();
      const names = await eventually(() => manager.streams.names().next(), { what: "the connection" });
      expect(names).toEqual(["KEPT"]);
    }
    await server.pause();
    await expect(manager.getAccountInfo()).rejects.toThrow();
    server.resume();
    const account = await eventually(() => manager.getAccountInfo(), { what: "a response" });
    expect(account.streams).toBe(1);
    await connection.close();
  });
});

test("a server that was closed is not restarted", async () => {
  const server = await open();
  await server.close();
  expect(await server.restart()).toBe(false);
});
