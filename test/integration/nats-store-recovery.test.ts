import { mkdir, readdir, rm, stat, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { jetstreamManager } from "@nats-io/jetstream";
import { connect } from "@nats-io/transport-node";
import { afterEach, beforeEach, expect, test } from "vitest";

import { findNatsServer, type NatsServerBinary } from "../../runtime/adapters/nats/server/find-nats-server.ts";
import { NatsServerProcess, type NatsServerEvent } from "../../runtime/adapters/nats/server/nats-server-process.ts";
import { listSetAside, noteRecreated, repairUnrecovered } from "../../runtime/adapters/nats/server/store-recovery.ts";
import { environment } from "../../runtime/process/settings.ts";
import { natsServerPath } from "../support/nats-server.ts";
import { tempDirectory, type TempDirectory } from "../support/temp-directory.ts";

let place: TempDirectory;
let binary: NatsServerBinary;
let events: NatsServerEvent[];
let server: NatsServerProcess | undefined;

beforeEach(async () => {
  place = await tempDirectory("nats-store");
  binary = await findNatsServer({ path: await natsServerPath(), environment: environment(), say: () => undefined });
  events = [];
});
afterEach(async () => {
  await server?.close();
  await place.remove();
});

const streams = (...names: string[]) => join(place.path, "nats", "store", "jetstream", "$G", "streams", ...names);
const setAside = () => join(place.path, "set-aside");

async function open(): Promise<NatsServerProcess> {
  server = await NatsServerProcess.open({
    binary,
    directory: join(place.path, "nats"),
    setAside: setAside(),
    ports: { port: 0, monitorPort: 0 },
    durability: "interval",
    payloadLimit: 1_048_576,
    users: [],
    maxFileStore: 100 * 1_048_576,
    onEvent: (event) => void events.push(event),
  });
  return server;
}

/** Streams Q_a and Q_b with two messages each, and a consumer each. */
async function fill({ url, sync, close }: { url: string; sync: boolean; close: () => Promise<void> }): Promise<void> {
  const connection = await connect({ servers: url });
  const manager = await jetstreamManager(connection);
  for (const name of ["a", "b"]) {
    await manager.streams.add({ name: `Q_${name}`, subjects: [`q.${name}`] });
    await manager.consumers.add(`Q_${name}`, { durable_name: "workers" });
    for (const text of ["one", "two"]) await connection.request(`q.${name}`, text);
  }
  await connection.close();
  if (sync) await server?.sync();
  await close();
}

/** Messages by stream. */
async function stored({ url }: NatsServerProcess): Promise<Record<string, number>> {
  const connection = await connect({ servers: url });
  const manager = await jetstreamManager(connection);
  const found: Record<string, number> = {};
  for await (const { config, state } of manager.streams.list()) found[config.name] = state.messages;
  await connection.close();
  return found;
}

async function begin(sync: boolean): Promise<void> {
  const first = await open();
  await fill({ url: first.url, sync, close: () => first.close() });
}

const damages: readonly [string, () => Promise<void>][] = [
  ["an empty meta.inf", () => truncate(streams("Q_a", "meta.inf"))],
  ["a meta.inf of zero bytes", () => writeFile(streams("Q_a", "meta.inf"), Buffer.alloc(400))],
  ["no meta.inf", () => rm(streams("Q_a", "meta.inf"))],
  ["an empty meta.sum", () => truncate(streams("Q_a", "meta.sum"))],
  // Renamed in part: the configuration is the new one, the checksum the old one.
  ["a checksum of another configuration", () => writeFile(streams("Q_a", "meta.sum"), "0123456789abcdef")],
];

test.each(damages)("%s is replaced by its copy, and nothing is lost", async (_, damage) => {
  await begin(true);
  await damage();
  expect(await stored(await open())).toEqual({ Q_a: 2, Q_b: 2 });
  expect(events).toEqual([{ kind: "restored", stream: "Q_a", reason: expect.stringMatching(/meta/) }]);
  expect(await listSetAside(setAside())).toEqual([]);
});

test.each(damages)("%s without a copy: the stream is set aside, and the others serve", async (_, damage) => {
  await begin(false);
  await damage();
  expect(await stored(await open())).toEqual({ Q_b: 2 });
  const [aside, ...others] = await listSetAside(setAside());
  expect([aside, others]).toMatchObject([
    { stream: "Q_a", reason: expect.stringMatching(/meta/), isRecreated: false },
    [],
  ]);
  expect(events).toEqual([{ kind: "set-aside", ...aside }]);
  expect((await stat(join(aside?.path ?? "", "msgs", "1.blk"))).size).toBeGreaterThan(0);

  await noteRecreated(setAside());
  expect(await listSetAside(setAside())).toMatchObject([{ stream: "Q_a", isRecreated: true }]);
  await rm(aside?.path ?? "", { recursive: true });
  expect(await listSetAside(setAside())).toEqual([]);
});

test("a stream that was never in use is removed", async () => {
  await begin(true);
  await mkdir(streams("Q_new", "msgs"), { recursive: true });
  await writeFile(streams("Q_new", "meta.inf"), "");
  expect(await stored(await open())).toEqual({ Q_a: 2, Q_b: 2 });
  expect(events).toEqual([{ kind: "removed", stream: "Q_new", reason: "its meta.inf is empty" }]);
  expect(await readdir(streams())).toEqual(["Q_a", "Q_b"]);
});

test("a consumer that cannot be recovered can be created again", async () => {
  await begin(false);
  await truncate(streams("Q_a", "obs", "workers", "meta.inf"));
  await writeFile(streams("Q_b", "obs", "workers", "o.dat"), Buffer.alloc(30));
  const { url } = await open();
  const connection = await connect({ servers: url });
  const manager = await jetstreamManager(connection);
  await expect(manager.consumers.info("Q_a", "workers")).rejects.toThrow("consumer not found");
  await manager.consumers.add("Q_a", { durable_name: "workers" });
  expect((await manager.consumers.info("Q_a", "workers")).num_pending).toBe(2);
  expect((await manager.consumers.info("Q_b", "workers")).num_pending).toBe(2);
  await connection.close();
});

test("a stream that the machine keeps from being recovered stays where it is", async () => {
  await begin(false);
  const at = { directory: join(place.path, "nats"), setAside: setAside() };
  const unrecovered = [{ stream: "Q_a", reason: "Error recreating stream: insufficient storage resources available" }];
  await expect(repairUnrecovered(at, unrecovered, [])).rejects.toThrow('stream "Q_a" cannot be recovered: Error recre');
  expect(await stored(await open())).toEqual({ Q_a: 2, Q_b: 2 });
});
