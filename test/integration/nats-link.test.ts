import { once } from "node:events";
import { createServer } from "node:net";

import { expect, test } from "vitest";

import { BrokerClock } from "../../runtime/adapters/nats/broker-clock.ts";
import { checkDurability } from "../../runtime/adapters/nats/check-durability.ts";
import { NatsHealth } from "../../runtime/adapters/nats/nats-health.ts";
import { NatsLink } from "../../runtime/adapters/nats/nats-link.ts";
import { openNatsServer } from "../support/nats-server.ts";

const options = { name: "test", user: undefined, password: undefined, inboxPrefix: "_INBOX.t", pingInterval: 5_000 };

test("a server older than 2.12.7 is refused with a sentence that names both", async () => {
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

  expect(await new NatsHealth([server.monitorUrl]).trouble()).toBeUndefined();
  await checkDurability("interval", [server.monitorUrl]);
  await expect(checkDurability("always", [server.monitorUrl])).rejects.toThrow(
    'Cannot promise durability "always": it writes to disk every 0.1 s',
  );
  await link.close();
  await server.close();
  expect(await new NatsHealth([server.monitorUrl]).trouble()).toBeUndefined();
  await expect(checkDurability("interval", [server.monitorUrl])).rejects.toThrow(/Cannot ask the broker/);

  const always = await openNatsServer({ durability: "always" });
  await checkDurability("always", [always.monitorUrl]);
  await checkDurability("cluster", [server.monitorUrl, always.monitorUrl]);
  await always.close();
});
