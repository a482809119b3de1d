import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";

import { afterEach, expect, test } from "vitest";

import { checkDurability } from "../../../../../runtime/adapters/nats/link/check-durability.ts";
import { NatsHealth } from "../../../../../runtime/adapters/nats/link/nats-health.ts";

const servers: Server[] = [];
afterEach(async () => {
  await Promise.all(
    servers.splice(0).map(async (server) => {
      server.close();
      await once(server, "close");
    }),
  );
});

/** A server's monitoring endpoint on this host name, with this response. */
async function monitoring(host: string, status: number, body: object): Promise<string> {
  const server = createServer((_, response) => response.writeHead(status).end(JSON.stringify(body)));
  servers.push(server);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return `http://${host}:${(server.address() as AddressInfo).port}`;
}

const noSpace = { status: "unavailable", error: "JetStream stream 'x': write error: no space left on device" };

test("every server is asked, and the first that cannot store is named by its host", async () => {
  const ready = await monitoring("127.0.0.1", 200, { status: "ok" });
  const busy = await monitoring("127.0.0.1", 503, { status: "unavailable", error: "JetStream is recovering" });
  const full = await monitoring("localhost", 503, noSpace);
  expect(await new NatsHealth([ready, busy]).fault()).toBeUndefined();
  expect(await new NatsHealth([ready, busy, full, full]).fault()).toEqual({
    kind: "full",
    server: "localhost",
    why: noSpace.error,
  });
});

test("a disk that fails is told from a full one, and of several servers too few must be left to store", async () => {
  const ready = await monitoring("127.0.0.1", 200, { status: "ok" });
  const quota = await monitoring("127.0.0.1", 503, { error: "stream write error: disk quota exceeded" });
  const failing = await monitoring("localhost", 503, { error: "stream write error: input/output error" });
  const told: unknown[] = [];
  const looked = (...urls: string[]) => new NatsHealth(urls, (fault) => told.push(fault)).wholeFault();
  expect(await looked(ready, failing, ready)).toBeUndefined();
  expect(await looked(quota, ready, failing)).toMatchObject({ kind: "full", server: "127.0.0.1" });
  expect(await looked(failing)).toMatchObject({ kind: "io-error", server: "localhost" });
  expect(told).toEqual([]);
});

test("a server that does not respond has no fault, and its durability is that of the others", async () => {
  const unreachable = await monitoring("127.0.0.1", 200, {});
  const [server] = servers.splice(0);
  server?.close();
  const always = await monitoring("127.0.0.1", 200, { config: { sync_always: true } });
  const every2Minutes = await monitoring("127.0.0.1", 200, { config: { sync_interval: 120_000_000_000 } });
  expect(await new NatsHealth([unreachable]).fault()).toBeUndefined();
  await checkDurability("always", [unreachable, always]);
  await expect(checkDurability("interval", [always, every2Minutes])).rejects.toThrow("it writes to disk every 120 s");
  await expect(checkDurability("always", [unreachable])).rejects.toThrow("Cannot ask the broker at");
});
