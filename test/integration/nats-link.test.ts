import { once } from "node:events";
import { createServer, type Socket } from "node:net";

import { expect, test } from "vitest";

import { BrokerClock } from "../../runtime/adapters/nats/link/broker-clock.ts";
import { HeaderBlock } from "../../runtime/adapters/nats/link/header-block.ts";
import { publishDurably } from "../../runtime/adapters/nats/link/durable-publish.ts";
import { NatsQueueCatalog } from "../../runtime/adapters/nats/stores/nats-queue-catalog.ts";
import { QueueTable } from "../../runtime/core/queues/queue-table.ts";
import { sampleQueue } from "../contract/samples.ts";
import { eventually } from "../support/eventually.ts";
import { checkDurability } from "../../runtime/adapters/nats/link/check-durability.ts";
import { NatsHealth } from "../../runtime/adapters/nats/link/nats-health.ts";
import { NatsLink } from "../../runtime/adapters/nats/link/nats-link.ts";
import { openNatsServer } from "../support/nats-server.ts";

/** A server that sends its greeting, and reads, only when it is told to. */
async function hangingServer(greet: boolean) {
  const info = { server_id: "x", version: "2.14.0", proto: 1, headers: true, max_payload: 8_388_608 };
  const sockets: Socket[] = [];
  const server = createServer({ pauseOnConnect: true }, (socket) => {
    sockets.push(socket);
    socket.on("error", () => undefined);
    socket.on("data", (bytes) => {
      if (bytes.includes("PING")) socket.write("PONG\r\n");
      // It answers the handshake, and then nothing more.
      socket.pause();
    });
    if (greet) answer(socket);
  });
  const answer = (socket: Socket): void => {
    socket.write(`INFO ${JSON.stringify(info)}\r\n`);
    socket.resume();
  };
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  return {
    port: typeof address === "object" ? address?.port : undefined,
    sockets,
    answer,
    close: () => {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}

const options = { name: "test", user: undefined, password: undefined, inboxPrefix: "_INBOX.t", pingInterval: 5_000 };

test("a server older than 2.12.7 is refused with an error that names both", async () => {
  const info = { server_id: "x", version: "2.12.6", proto: 1, headers: true, max_payload: 1_048_576 };
  const server = createServer((socket) => {
    socket.on("error", () => undefined);
    socket.write(`INFO ${JSON.stringify(info)}\r\n`);
    socket.on("data", (bytes) => bytes.includes("PING") && socket.write("PONG\r\n"));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  const port = typeof address === "object" ? address?.port : undefined;
  const opening = NatsLink.open({ ...options, url: `nats://127.0.0.1:${port}` });
  await expect(opening).rejects.toThrow(/it is nats-server 2\.12\.6, and 2\.12\.7 or newer is needed/);
  server.close();
});

test("the broker's clock is told, its health, and whether it keeps what is promised", async () => {
  const server = await openNatsServer({ durability: "interval" });
  const link = await NatsLink.open({ ...options, url: server.url });
  await link.jsm.streams.add({ name: "KV_calls", subjects: ["x"] });
  const clock = new BrokerClock(link, "KV_calls");
  await clock.known();
  expect(Math.abs(clock.now() - Date.now())).toBeLessThan(5_000);

  expect(await new NatsHealth([server.monitorUrl]).fault()).toBeUndefined();
  await checkDurability("interval", [server.monitorUrl]);
  await expect(checkDurability("always", [server.monitorUrl])).rejects.toThrow(
    'Cannot promise durability "always": it writes to disk every 0.1 s',
  );
  await link.close();
  await server.close();
  expect(await new NatsHealth([server.monitorUrl]).fault()).toBeUndefined();
  await expect(checkDurability("interval", [server.monitorUrl])).rejects.toThrow(/Cannot ask the broker/);

  const always = await openNatsServer({ durability: "always" });
  await checkDurability("always", [always.monitorUrl]);
  await checkDurability("cluster", [server.monitorUrl, always.monitorUrl]);
  await always.close();
});

test("a link begun without a broker reports it, sends nothing, and works once there is one", async () => {
  const server = await openNatsServer();
  await server.stop();
  const link = NatsLink.begin({ ...options, url: server.url });
  const changes: unknown[] = [];
  link.state.onChange((kind, cause) => changes.push([kind, cause]));
  const received: string[] = [];
  const unsubscribe = link.subscribe("news", (message) => void received.push(message.string()));
  link.subscribe("gossip", (message) => void received.push(message.string()))();
  link.publish("news", "lost");
  const catalog = new NatsQueueCatalog(link);
  const table = new QueueTable();
  const watching = catalog.watch(table.observer);

  await eventually(() => link.state.kind === "away", { what: "the outage" });
  expect(changes).toEqual([["away", expect.objectContaining({ message: expect.stringContaining("refused") })]]);
  expect(link.downFor()).toBe(Number.POSITIVE_INFINITY);
  const outcome = await publishDurably(link, "q", new Uint8Array(0), new HeaderBlock(), performance.now() + 3_000);
  expect(outcome.kind).toBe("not-sent");
  const unreachable = expect.objectContaining({ code: "provider_unavailable" });
  await expect(catalog.get("default")).rejects.toEqual(unreachable);

  await server.restart();
  await link.opened;
  expect([link.downFor(), link.reconnects, changes.at(-1)]).toEqual([0, 0, [undefined, undefined]]);
  // The broker is there, but its queue-doctor was not yet.
  await expect(catalog.get("default")).rejects.toEqual(unreachable);
  await link.jsm.streams.add({ name: "KV_queues", subjects: ["$KV.queues.>"], max_msgs_per_subject: 1 });
  await catalog.put(sampleQueue());
  const unwatch = await watching;
  expect(table.isKnown).toBe(true);
  await eventually(
    () => {
      link.publish("gossip", "reports-missing");
      link.publish("news", "heard");
      return received.length > 0;
    },
    { what: "the news" },
  );
  expect(new Set(received)).toEqual(new Set(["heard"]));
  unsubscribe();
  unwatch();
  await link.close();
  await server.close();
});

test("a link that is closed before there was a broker stops trying", async () => {
  const server = await openNatsServer();
  await server.stop();
  const link = NatsLink.begin({ ...options, url: server.url });
  await eventually(() => link.state.kind === "away", { what: "an attempt" });
  await link.close();
  expect(link.isClosed).toBe(true);
  await server.restart();
  const later = await NatsLink.open({ ...options, url: server.url });
  // The closed link would have connected first.
  expect(await (await fetch(`${server.monitorUrl}/varz`)).json()).toMatchObject({ connections: 1 });
  await later.close();
  await server.close();
});

test("a server that accepts connections and says nothing is left for the next one, and its late greeting changes nothing", async () => {
  const hanging = await hangingServer(false);
  const server = await openNatsServer();
  // The order in which they are dialled is random.
  for (let links = 0; hanging.sockets.length === 0; links += 1) {
    expect(links).toBeLessThan(50);
    const link = await NatsLink.open({ ...options, url: `nats://127.0.0.1:${hanging.port}, ${server.url}` });
    expect(link.nc.getServer()).toBe(new URL(server.url).host);
    await link.close();
  }
  const alone = NatsLink.begin({ ...options, url: `nats://127.0.0.1:${hanging.port}` });
  await eventually(() => hanging.sockets.length > 1, { what: "a second dial" });
  await alone.close();
  for (const socket of hanging.sockets) hanging.answer(socket);
  await eventually(() => hanging.sockets.every((socket) => socket.destroyed), { what: "no connection left" });
  const { port } = await openConnections(server.monitorUrl);
  expect(port).toEqual([]);
  hanging.close();
  await server.close();
});

test("a server that reads nothing more is left, however much waits to be sent", async () => {
  const hanging = await hangingServer(true);
  const server = await openNatsServer();
  const url = `nats://127.0.0.1:${hanging.port},${server.url}`;
  let link = await NatsLink.open({ ...options, pingInterval: 100, url });
  for (let links = 0; hanging.sockets.length === 0; links += 1) {
    expect(links).toBeLessThan(50);
    await link.close();
    link = await NatsLink.open({ ...options, pingInterval: 100, url });
  }
  for (let sent = 0; sent < 16; sent += 1) link.publish("x", "x".repeat(1_048_576));
  await eventually(() => link.nc.getServer() === new URL(server.url).host && link.downFor() === 0, {
    what: "the other server",
  });
  await link.close();
  hanging.close();
  await server.close();
});

/** Clients of a server. */
async function openConnections(monitorUrl: string): Promise<{ readonly port: readonly number[] }> {
  const { connections } = (await (await fetch(`${monitorUrl}/connz`)).json()) as {
    readonly connections: readonly { readonly port: number }[];
  };
  return { port: connections.map(({ port }) => port) };
}
