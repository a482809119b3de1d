import { PersistMode } from "@nats-io/jetstream";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { NatsCallLedger } from "../../runtime/adapters/nats/records/nats-call-ledger.ts";
import { NatsCallQueue } from "../../runtime/adapters/nats/queues/nats-call-queue.ts";
import { NatsLink } from "../../runtime/adapters/nats/link/nats-link.ts";
import { NatsQueueCatalog } from "../../runtime/adapters/nats/stores/nats-queue-catalog.ts";
import { NatsQueueStore } from "../../runtime/adapters/nats/queues/nats-queue-store.ts";
import { declareDefaultQueue } from "../../runtime/core/queues/queue-defaults.ts";
import { sampleCall, sampleEntry, soon } from "../contract/samples.ts";
import { deleteStream } from "../support/delete-stream.ts";
import { openNatsServer, type TestNatsServer } from "../support/nats-server.ts";

const queue = (ackWait: number, maxLength = 1_000) =>
  declareDefaultQueue({
    replicas: 1,
    maxInflight: 1,
    timeout: 30_000,
    ackWait,
    maxLength,
    retryAttempts: 10,
    retryMinWait: 10_000,
    retryMaxWait: 120_000,
  });
const facts = { payloadLimit: 1_048_576, maxCallRecords: 1_000, replicas: 1, oneMachine: true };

let server: TestNatsServer;
let link: NatsLink;
beforeAll(async () => {
  server = await openNatsServer({ maxFileStore: 268_435_456 });
  const { url } = server;
  link = await NatsLink.open({
    url,
    name: "test",
    user: undefined,
    password: undefined,
    inboxPrefix: "_INBOX.t",
    pingInterval: 5_000,
  });
});
afterAll(async () => {
  await link?.close();
  await server?.close();
});

test("provision() fits all streams into a small store, again and with other settings", async () => {
  const store = new NatsQueueStore(link, { ...facts, maxFileStore: 268_435_456 });
  await store.provision([queue(60_000)]);
  await store.provision([queue(30_000, 2_000)]);

  const { config } = await link.jsm.streams.info("Q_default");
  expect(config).toMatchObject({
    retention: "workqueue",
    discard: "new",
    max_msgs: 2_000,
    discard_new_per_subject: true,
  });
  const consumer = await link.jsm.consumers.info("Q_default", "workers");
  expect(consumer.config).toMatchObject({ ack_wait: 30_000_000_000, max_ack_pending: -1, ack_policy: "explicit" });
});

test("maintain() repairs a consumer and names a stream that is gone, without creating an empty one", async () => {
  const store = new NatsQueueStore(link, { ...facts, maxFileStore: 268_435_456 });
  await store.provision([queue(60_000)]);
  await link.jsm.consumers.delete("Q_default", "workers");
  expect(await store.maintain([queue(60_000)])).toEqual([]);
  expect((await link.jsm.consumers.info("Q_default", "workers")).config.durable_name).toBe("workers");

  await deleteStream(link, server, "Q_default");
  expect(await store.maintain([queue(60_000)])).toEqual([{ name: "default", lostCalls: 0 }]);
  await expect(link.jsm.streams.info("Q_default")).rejects.toThrow(/stream not found/);
});

test("maintain() reverts foreign settings of a consumer, whether the broker can change them or not", async () => {
  const store = new NatsQueueStore(link, { ...facts, maxFileStore: 268_435_456 });
  const declared = [queue(1_000)];
  await store.provision(declared, ["default"]);
  const settings = async () => (await link.jsm.consumers.info("Q_default", "workers")).config;
  const usual = await settings();

  await link.jsm.consumers.update("Q_default", "workers", { max_deliver: 5, backoff: [5_000_000_000, 60_000_000_000] });
  expect(await settings()).not.toEqual(usual);
  await store.maintain(declared);
  expect(await settings()).toEqual(usual);

  await link.request("q.default.functions.echo", "kept", { timeout: 2_000 });
  for (const foreign of [{ max_waiting: 7 }, { filter_subject: "q.default.functions.other" }]) {
    await link.jsm.consumers.delete("Q_default", "workers");
    await link.jsm.consumers.add("Q_default", { ...usual, ...foreign });
    await store.maintain(declared);
    expect(await settings()).toEqual(usual);
  }
  expect(await link.jsm.consumers.info("Q_default", "workers")).toMatchObject({ num_pending: 1 });
});

test("a stream that acknowledges before it has stored is refused, and named", async () => {
  const store = new NatsQueueStore(link, { ...facts, maxFileStore: 268_435_456 });
  await store.provision([queue(60_000)], ["default"]);
  const { config } = await link.jsm.streams.info("Q_default");
  await deleteStream(link, server, "Q_default");
  await link.jsm.streams.add({ ...config, persist_mode: PersistMode.Async });
  const refused = /Cannot use stream "Q_default": its persist_mode is "async"/;
  await expect(store.maintain([queue(60_000)])).rejects.toThrow(refused);
  await expect(store.provision([queue(60_000)])).rejects.toThrow(refused);
  await deleteStream(link, server, "Q_default");
  await store.provision([queue(60_000)], ["default"]);
});

test("countOverdue() finds one behind many that are not due", async () => {
  const store = new NatsQueueStore(link, { ...facts, maxFileStore: 268_435_456 });
  await store.provision([queue(60_000)], ["default"]);
  await link.jsm.streams.purge("Q_default");
  const ledger = new NatsCallLedger(link, () => 3_600_000, { accepts: true });
  const calls = Array.from({ length: 120 }, () => sampleCall());
  const queued = new NatsCallQueue(link);
  for (const [index, call] of calls.entries()) {
    const next = index === 110 ? 1 : Date.now() + 3_600_000;
    await ledger.create(call.id, sampleEntry({ state: "waiting", next }, call), soon());
    await queued.put(call, soon());
  }
  const pulled = await (
    await link.js.consumers.get("Q_default", "workers")
  ).fetch({ max_messages: 120, expires: 30_000 });
  for await (const _message of pulled);
  expect(await store.countOverdue("default")).toBe(1);
});

describe("when queues come and go", () => {
  const named = (name: string) => ({ ...queue(60_000), name });
  const shareOf = async (name: string) => (await link.jsm.streams.info(`Q_${name}`)).config.max_bytes;

  test("the store is shared again, whatever the order, and never below what a queue holds", async () => {
    const store = new NatsQueueStore(link, { ...facts, maxFileStore: 268_435_456 });
    const all = ["default", "b", "d", "a", "c"].map(named);
    for (const count of [1, 3, 5, 2, 4, 1, 5]) {
      const queues = all.slice(0, count);
      await store.provision(queues);
      const shares = await Promise.all(queues.map(({ name }) => shareOf(name)));
      expect(new Set(shares).size).toBe(1);
    }
    const names = [];
    for await (const name of link.jsm.streams.names("q.>")) names.push(name);
    expect(names.toSorted()).toEqual(["Q_a", "Q_b", "Q_c", "Q_d", "Q_default"]);

    for (let n = 0; n < 20; n++) await link.js.publish("q.d.functions.echo", Buffer.alloc(1_000_000));
    const shares = await shareOf("d");
    // A queue that is no longer declared keeps its calls and its room.
    await store.provision([named("default")]);
    await store.maintain([named("default")]);
    expect((await link.jsm.streams.info("Q_d")).state.messages).toBe(20);
    await expect(link.jsm.streams.info("Q_a")).rejects.toThrow(/stream not found/);
    expect(await shareOf("default")).toBeGreaterThan(shares);

    const small = new NatsQueueStore(link, { ...facts, maxFileStore: 67_108_864 });
    await expect(small.provision([named("default"), named("d")])).rejects.toThrow(
      /Q_d holds 20 entries .* let its queue run empty first/,
    );
    expect((await link.jsm.streams.info("Q_d")).state.messages).toBe(20);
  });
});

test("provision() recreates what was there before only when it is told to", async () => {
  const store = new NatsQueueStore(link, { ...facts, maxFileStore: 268_435_456 });
  await new NatsQueueCatalog(link).put(queue(60_000));
  for (const stream of ["Q_default", "CB"]) await deleteStream(link, server, stream);
  await store.provision([queue(60_000)]);
  expect((await store.maintain([queue(60_000)])).map(({ name }) => name).toSorted()).toEqual(["CB", "default"]);

  await store.provision([queue(60_000)], ["CB"]);
  expect((await store.maintain([queue(60_000)])).map(({ name }) => name)).toEqual(["default"]);
  await store.provision([queue(60_000)], ["default"]);
  expect(await store.maintain([queue(60_000)])).toEqual([]);
});

test("look() and rebuild(): what is unanswered is delivered again, and the consumer's creator is known", async () => {
  const store = new NatsQueueStore(link, { ...facts, maxFileStore: 268_435_456 });
  const declared = [queue(1_000)];
  await store.provision(declared);
  for (const body of ["a", "b", "c"]) await link.request("q.default.functions.echo", body, { timeout: 2_000 });
  const pulled = await (await link.js.consumers.get("Q_default", "workers")).fetch({ max_messages: 2, expires: 1_000 });
  for await (const message of pulled) expect(message.seq).toBeGreaterThan(0);
  const [before] = await store.look(declared);
  expect(before).toMatchObject({ queue: "default", orphans: 0, unanswered: 2, offers: 2, current: true });
  expect(before?.oldestAt).toBeGreaterThan(Date.now() - 60_000);
  expect(await store.countOverdue("default")).toBe(2);

  await store.rebuild("default", new AbortController().signal);
  const [after] = await store.look(declared);
  expect(after).toMatchObject({ unanswered: 0, offers: 0, orphans: 0, current: true });
  expect((await link.jsm.consumers.info("Q_default", "workers")).num_pending).toBe(3);
  expect(await store.countOverdue("default")).toBe(0);
  const metadata = { "weir-server": "2.0.0" };
  await link.jsm.consumers.update("Q_default", "workers", { metadata });
  expect((await store.look(declared))[0]).toMatchObject({ current: false });
});
