import { jetstream } from "@nats-io/jetstream";
import { expect, test } from "vitest";

import { consumerConfig } from "../../runtime/adapters/nats/queues/consumers.ts";
import { NatsLink } from "../../runtime/adapters/nats/link/nats-link.ts";
import { rebuildConsumer } from "../../runtime/adapters/nats/queues/rebuild-consumer.ts";
import { eventually } from "../support/eventually.ts";
import { openNatsServer } from "../support/nats-server.ts";

const [stream, name] = ["Q_rebuilt", "workers"];
const ackWait = 4_000;

test("a rebuild interrupted by the broker's death continues where it was, and delivers all entries again", async () => {
  const server = await openNatsServer();
  const link = await NatsLink.open({
    url: server.url,
    name: "test",
    user: undefined,
    password: undefined,
    inboxPrefix: "_INBOX.test",
    pingInterval: 1_000,
  });
  try {
    await link.jsm.streams.add({ name: stream, subjects: ["rebuilt"], retention: "workqueue" });
    await link.jsm.consumers.add(stream, consumerConfig(name, ackWait, link.serverVersion));
    await link.js.publish("rebuilt", "one");
    const consumer = await jetstream(link.nc).consumers.get(stream, name);
    // Delivered, and never acknowledged: the rebuild waits for the lease.
    expect((await consumer.next({ expires: 2_000 }))?.string()).toBe("one");
    const { created } = await link.jsm.consumers.info(stream, name);

    const rebuilding = rebuildConsumer(link, stream, name, new AbortController().signal);
    await eventually(async () => (await link.jsm.consumers.info(stream, name)).paused === true, {
      what: "the consumer to be paused",
    });
    await server.kill();
    await server.restart();
    await rebuilding;

    const info = await link.jsm.consumers.info(stream, name);
    expect(info.created).not.toBe(created);
    expect(info.paused ?? false).toBe(false);
    expect((await consumer.next({ expires: 2_000 }))?.string()).toBe("one");
  } finally {
    await link.close();
    await server.close();
  }
});
