import { writeFile } from "node:fs/promises";
import { join } from "node:path";

import { jetstream, type StreamInfo } from "@nats-io/jetstream";
import { afterEach, expect, test } from "vitest";

import { natsConfig } from "../../infra/manifests/broker/nats-config.ts";
import { natsSecretName, queueWorkerName } from "../../infra/manifests/names.ts";
import type { Platform } from "../../infra/manifests/platform.ts";
import { readPlatform } from "../../infra/manifests/read-platform.ts";
import { NatsRecordChanges } from "../../runtime/adapters/nats/history/nats-record-changes.ts";
import { NatsLink } from "../../runtime/adapters/nats/link/nats-link.ts";
import { natsOptions } from "../../runtime/adapters/nats/open-nats.ts";
import { NatsQueueStore } from "../../runtime/adapters/nats/queues/nats-queue-store.ts";
import { NatsCallLedger } from "../../runtime/adapters/nats/records/nats-call-ledger.ts";
import { NatsLeases } from "../../runtime/adapters/nats/stores/nats-leases.ts";
import { natsUser, natsUsers } from "../../runtime/api/broker/nats-users.ts";
import { openBroker, type Broker } from "../../scripts/backup/broker.ts";
import { makeBackup } from "../../scripts/backup/make-backup.ts";
import { restoreBackup } from "../../scripts/backup/restore-backup.ts";
import { sampleCall, sampleEntry } from "../contract/samples.ts";
import { eventually } from "../support/eventually.ts";
import { freePort } from "../support/free-port.ts";
import { placeStackBroker, startStackBroker, type PlacedBroker } from "../support/stack-brokers.ts";

const sampleQueue = {
  name: "default",
  replicas: 1,
  maxInflight: 1,
  timeout: 30_000,
  ackWait: 5_000,
  maxLength: 1_000,
  strict: false,
  retry: { attempts: 1, codes: [500], minWait: 100, maxWait: 1_000 },
};
const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

/** The files of a server's pod, removed after the test. */
async function place(platform: Platform, routes: readonly number[] = [], index = 0): Promise<PlacedBroker> {
  const placed = await placeStackBroker(platform, routes, index);
  closing.push(() => placed.directory.remove());
  return placed;
}

async function start(placed: PlacedBroker): Promise<void> {
  const starting = startStackBroker(placed);
  // Registered before it runs: one of several may fail while the others start.
  closing.push(async () => {
    const server = await starting.catch(() => undefined);
    server?.process.kill("SIGKILL");
    await server?.ended;
  });
  await starting;
}

/** Connects as a process does, with the files of its pod. */
async function connect(
  { directory, port, authority }: PlacedBroker,
  user: string,
  deployment: string,
): Promise<NatsLink> {
  const caFile = join(directory.path, "ca.crt");
  await writeFile(caFile, authority);
  const secret = natsSecretName(deployment);
  const passwordFile = join(directory.path, `${secret}.password`);
  await writeFile(passwordFile, `password-of-${secret}`);
  const access = {
    natsUrl: `tls://localhost:${port}`,
    natsUser: user,
    natsPasswordFile: passwordFile,
    natsCaFile: caFile,
    natsPingInterval: 5_000,
  };
  const inbox = natsUsers({ queues: ["a_b-c"], oneMachine: false }).find(({ name }) => name === user)?.inboxPrefix;
  const link = await NatsLink.open(natsOptions(access, user, inbox ?? ""));
  closing.push(() => link.close());
  return link;
}

test("the server accepts its configuration, encrypts, and knows its users by their Secrets", async () => {
  const platform = readPlatform({ edition: "enterprise", queues: { "a_b-c": {} } });
  const placed = await place(platform);
  await start(placed);
  const doctor = await connect(placed, natsUser.doctor, "queue-doctor");
  await doctor.jsm.streams.add({ name: "Q_a_b-c", subjects: ["q.a_b-c.*.*"] });
  expect(doctor.nc.info?.tls_required).toBe(true);

  const worker = await connect(placed, natsUser.worker("a_b-c"), queueWorkerName("a_b-c"));
  expect((await worker.jsm.streams.info("Q_a_b-c")).config.subjects).toEqual(["q.a_b-c.*.*"]);
  await expect(worker.jsm.streams.delete("Q_a_b-c")).rejects.toThrow(/permission/i);

  const health = await fetch(`http://127.0.0.1:${placed.monitorPort}/healthz?js-server-only=true`);
  expect(health.status).toBe(200);
  const response = await fetch(`http://127.0.0.1:${placed.monitorPort}/jsz?config=1`);
  const { config } = (await response.json()) as { readonly config: { readonly sync_always?: boolean } };
  expect(config.sync_always).toBe(true);
});

test("the history follows records and holds its lease, and writes no record", async () => {
  const placed = await place(readPlatform({}));
  await start(placed);
  const doctor = await connect(placed, natsUser.doctor, "queue-doctor");
  const store = { maxFileStore: 2 ** 33, payloadLimit: 2 ** 20, maxCallRecords: 1_000, replicas: 1, oneMachine: false };
  await new NatsQueueStore(doctor, store).provision([sampleQueue]);
  const gateway = await connect(placed, natsUser.gateway, "gateway");
  const ledger = new NatsCallLedger(gateway, () => 60_000, { accepts: true });
  const id = "11111111-1111-4111-8111-111111111111";
  const entry = sampleEntry({ digest: "d", maxRetries: 1 }, sampleCall({ callbackUrl: undefined }));
  expect((await ledger.create(id, entry, performance.now() + 5_000)).kind).toBe("created");

  const history = await connect(placed, natsUser.history, "history");
  expect(await new NatsLeases(history).acquire("process.history", "me", 1_000)).toBe(true);
  const records = new NatsRecordChanges(history, { inboxPrefix: "_INBOX.hs" });
  const enough = new AbortController();
  const followed: string[] = [];
  for await (const { changes } of records.follow(undefined, enough.signal)) {
    followed.push(...changes.flatMap((change) => (change.kind === "entry" ? [change.id] : [])));
    if (followed.includes(id)) enough.abort();
  }
  expect(followed).toEqual([id]);
  await expect(history.nc.request(`$KV.calls.${id}`, "x", { timeout: 500 })).rejects.toThrow(/permission/i);
});

test("three servers form a cluster, by routes that only they may open, and keep three copies", async () => {
  const platform = readPlatform({ nats: { replicas: 3 } });
  const routes = [await freePort(), await freePort(), await freePort()];
  const servers = [];
  for (const index of routes.keys()) servers.push(await place(platform, routes, index));
  await Promise.all(servers.map((server) => start(server)));
  const [first] = servers;
  if (first === undefined) throw new Error("no server");
  const doctor = await connect(first, natsUser.doctor, "queue-doctor");
  const stream = { name: "Q_default", subjects: ["q.default.*.*"], num_replicas: 3 };
  // The servers elect a leader first.
  const made = await eventually(() => doctor.jsm.streams.add(stream), {
    what: "a stream with three copies",
  });
  expect(made.cluster?.name).toBe("weir");
  expect(doctor.nc.info?.connect_urls ?? []).toEqual([]);
  expect(natsConfig(platform)).not.toContain("password-of-");
});

/** Connects as a backup does through a forwarded port: the certificate's name is not the address. */
async function connectForwarded({ port, authority }: PlacedBroker, tlsName: string): Promise<Broker> {
  const broker = await openBroker({
    url: `tls://127.0.0.1:${port}`,
    tlsName,
    ca: authority,
    user: natsUser.doctor,
    password: `password-of-${natsSecretName("queue-doctor")}`,
    inboxPrefix: "_INBOX.dr",
  });
  closing.push(async () => broker[Symbol.asyncDispose]());
  return broker;
}

test("a cluster of three can be backed up and restored, with three copies, or with one to one server", async () => {
  const routes = [await freePort(), await freePort(), await freePort()];
  const servers = [];
  for (const index of routes.keys()) servers.push(await place(readPlatform({ nats: { replicas: 3 } }), routes, index));
  await Promise.all(servers.map((server) => start(server)));
  const [first] = servers;
  if (first === undefined) throw new Error("no server");
  await expect(connectForwarded(first, "nats.elsewhere")).rejects.toThrow("Cannot reach the broker");
  const three = await connectForwarded(first, "localhost");
  const name = "KV_calls";
  const stream = { name, subjects: ["$KV.calls.>"], num_replicas: 3, max_bytes: 100_000_000 };
  await eventually(() => three.jsm.streams.add(stream), { what: "a stream with three copies" });
  for (let index = 0; index < 50; index++) await jetstream(three.nc).publish(`$KV.calls.${index}`, "x".repeat(5_000));
  const to = join(first.directory.path, "backup");
  const say = (): void => {};
  await makeBackup(three, { to, say });
  const copiesAndEntries = ({ config, state }: StreamInfo) => [config.num_replicas, state.messages];

  await restoreBackup(three, { from: to, replace: true, say });
  const again = await eventually(() => three.jsm.streams.info(name), { what: "a leader" });
  expect(copiesAndEntries(again)).toEqual([3, 50]);

  const alone = await place(readPlatform({}));
  await start(alone);
  const one = await connectForwarded(alone, "localhost");
  await restoreBackup(one, { from: to, replace: false, say });
  expect(copiesAndEntries(await one.jsm.streams.info(name))).toEqual([1, 50]);
});
