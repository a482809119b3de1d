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
import { NatsLink, type NatsOptions } from "../../runtime/adapters/nats/link/nats-link.ts";
import { NotSentError } from "../../runtime/adapters/nats/link/request-mux.ts";
import { openNatsServer } from "../support/nats-server.ts";

const greeting = { server_id: "x", version: "2.14.0", proto: 1, headers: true, max_payload: 8_388_608 };

/** A server that greets when it is told to, answers pings as often as it is told to, and does nothing else. */
async function idleServer({ greets = true, pings = Number.POSITIVE_INFINITY } = {}) {
  const sockets: Socket[] = [];
  const greet = (socket: Socket): void => {
    let answered = 0;
    socket.write(`INFO ${JSON.stringify(greeting)}\r\n`);
    socket.on("data", (bytes) => {
      if (bytes.includes("PING")) socket.write("PONG\r\n");
      answered += 1;
      if (answered >= pings) socket.pause();
    });
  };
  const server = createServer((socket) => {
    sockets.push(socket);
    socket.on("error", () => undefined);
    if (greets) greet(socket);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  return {
    url: `nats://127.0.0.1:${typeof address === "object" ? address?.port : undefined}`,
    sockets,
    greet,
    close: () => {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}

/** A link to the first of these servers that knows of the other one, too: they are dialled in any order. */
async function openAt(first: string, second: string, more: Partial<NatsOptions> = {}): Promise<NatsLink> {
  for (let attempt = 0; attempt < 100; attempt += 1) {
    const link = await NatsLink.open({ ...options, ...more, url: `${first}, ${second}` });
    if (link.nc.getServer() === new URL(first).host) return link;
    await link.close();
  }
  throw new Error(`no link to ${first}`);
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
  const idle = await idleServer({ greets: false });
  const server = await openNatsServer();
  for (let links = 0; idle.sockets.length === 0; links += 1) {
    expect(links).toBeLessThan(100);
    const link = await NatsLink.open({ ...options, url: `${idle.url}, ${server.url}` });
    expect(link.nc.getServer()).toBe(new URL(server.url).host);
    await link.close();
  }
  const alone = NatsLink.begin({ ...options, url: idle.url });
  await eventually(() => idle.sockets.length > 1, { what: "a second dial" });
  await alone.close();
  for (const socket of idle.sockets) idle.greet(socket);
  await eventually(() => idle.sockets.every((socket) => socket.destroyed), { what: "no connection left" });
  expect(await clientPorts(server.monitorUrl)).toEqual([]);
  idle.close();
  await server.close();
});

test("a server that reads nothing more is left, however much waits to be sent", async () => {
  const idle = await idleServer({ pings: 1 });
  const server = await openNatsServer();
  const link = await openAt(idle.url, server.url, { pingInterval: 100 });
  for (let sent = 0; sent < 16; sent += 1) link.publish("x", "x".repeat(1_048_576));
  await untilAt(link, server.url);
  await link.close();
  idle.close();
  await server.close();
});

test("a server that answers pings alone is left after 3 s of requests, and what it did not read waits, within bounds", async () => {
  const idle = await idleServer({ pings: 1 });
  const server = await openNatsServer();
  const link = await openAt(idle.url, server.url, { pingInterval: 60_000 });
  await eventually(
    async () => {
      const errors: unknown[] = [];
      const body = new Uint8Array(4_194_304);
      const timeout = 100;
      const asked = Array.from({ length: 10 }, () =>
        link.request("nobody", body, { timeout }).catch((err: unknown) => errors.push(err)),
      );
      await Promise.all(asked);
      return errors.some((err) => err instanceof NotSentError);
    },
    { what: "requests that are not sent" },
  );
  const ask = async (): Promise<boolean> => {
    await link.request("nobody", "", { timeout: 100 }).catch(() => {});
    return link.nc.getServer() === new URL(server.url).host;
  };
  await eventually(ask, { what: "the other server" });
  await link.close();
  idle.close();
  await server.close();
});

test("a publish that nobody waits for any more is given up soon", async () => {
  const idle = await idleServer({ pings: 1 });
  const link = await NatsLink.open({ ...options, url: idle.url });
  const began = performance.now();
  const isAbandoned = () => performance.now() - began > 100;
  const until = began + 60_000;
  const outcome = await publishDurably(link, "x", new Uint8Array(1), new HeaderBlock(), until, isAbandoned);
  expect(outcome.kind).toBe("unknown");
  expect(performance.now() - began).toBeLessThan(3 * 600);
  await link.close();
  idle.close();
});

test("a server that announces its end is left at once, but not for itself", async () => {
  const idle = await idleServer();
  const server = await openNatsServer();
  const link = await openAt(idle.url, server.url);
  const alone = await NatsLink.open({ ...options, url: idle.url });
  for (const socket of idle.sockets) socket.write(`INFO ${JSON.stringify({ ...greeting, ldm: true })}\r\n`);
  await untilAt(link, server.url);
  expect(alone.reconnects).toBe(0);
  await link.close();
  await alone.close();
  idle.close();
  await server.close();
});

async function untilAt(link: NatsLink, url: string): Promise<void> {
  await eventually(() => link.nc.getServer() === new URL(url).host && link.downFor() === 0, {
    what: "the other server",
  });
}

/** Ports of the clients of a server. */
async function clientPorts(monitorUrl: string): Promise<readonly number[]> {
  const { connections } = (await (await fetch(`${monitorUrl}/connz`)).json()) as {
    readonly connections: readonly { readonly port: number }[];
  };
  return connections.map(({ port }) => port);
}
