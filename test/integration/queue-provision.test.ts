import { afterAll, beforeAll, expect, test } from "vitest";

import { NatsLink } from "../../runtime/adapters/nats/nats-link.ts";
import { NatsQueueStore } from "../../runtime/adapters/nats/nats-queue-store.ts";
import { declareDefaultQueue } from "../../runtime/core/queue-defaults.ts";
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

test("maintain() mends a consumer and names a stream that is gone, without making an empty one", async () => {
  const store = new NatsQueueStore(link, { ...facts, maxFileStore: 268_435_456 });
  await store.provision([queue(60_000)]);
  await link.jsm.consumers.delete("Q_default", "workers");
  await store.maintain([queue(60_000)]);
  expect((await link.jsm.consumers.info("Q_default", "workers")).config.durable_name).toBe("workers");

  await link.jsm.streams.delete("Q_default");
  await expect(store.maintain([queue(60_000)])).rejects.toThrow(/Q_default is missing/);
  await expect(link.jsm.streams.info("Q_default")).rejects.toThrow(/stream not found/);
});
