import { once } from "node:events";
import { createServer } from "node:net";

import { expect, test } from "vitest";

import { freePort, isFreePort } from "../../support/free-port.ts";

test("a free port can be listened on and is then no longer free", async () => {
  const port = await freePort();
  expect(await isFreePort(port)).toBe(true);

  const server = createServer().listen(port, "127.0.0.1");
  await once(server, "listening");
  expect(await isFreePort(port)).toBe(false);
  server.close();
  await once(server, "close");
});

test("it is none of those that are given to whoever asks for any", async () => {
  for (let round = 0; round < 20; round++) expect(await freePort()).toBeLessThan(32_768);
});
