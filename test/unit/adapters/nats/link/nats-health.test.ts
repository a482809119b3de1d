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

/** A server's monitoring under this name of the machine, which answers so. */
async function monitoring(host: string, status: number, body: object): Promise<string> {
  const server = createServer((_, response) => response.writeHead(status).end(JSON.stringify(body)));
  servers.push(server);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return `http://${host}:${(server.address() as AddressInfo).port}`;
}

const sick = { status: "unavailable", error: "JetStream stream 'x': write error: no space left on device" };

test("every server is asked, and the first that cannot store is named by its host", async () => {
  const well = await monitoring("127.0.0.1", 200, { status: "ok" });
  const busy = await monitoring("127.0.0.1", 503, { status: "unavailable", error: "JetStream is recovering" });
  const ill = await monitoring("localhost", 503, sick);
  expect(await new NatsHealth([well, busy]).fault()).toBeUndefined();
  expect(await new NatsHealth([well, busy, ill, ill]).fault()).toEqual({ server: "localhost", why: sick.error });
});

test("a server that does not answer is not ill, and its durability is that of the others", async () => {
  const away = await monitoring("127.0.0.1", 200, {});
  const [server] = servers.splice(0);
  server?.close();
  const always = await monitoring("127.0.0.1", 200, { config: { sync_always: true } });
  const seldom = await monitoring("127.0.0.1", 200, { config: { sync_interval: 120_000_000_000 } });
  expect(await new NatsHealth([away]).fault()).toBeUndefined();
  await checkDurability("always", [away, always]);
  await expect(checkDurability("interval", [always, seldom])).rejects.toThrow("it writes to disk every 120 s");
  await expect(checkDurability("always", [away])).rejects.toThrow("Cannot ask the broker at");
});
