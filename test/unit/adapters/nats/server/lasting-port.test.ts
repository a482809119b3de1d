import { once } from "node:events";
import { createServer, type Server } from "node:net";

import { afterEach, expect, test } from "vitest";

import { lastingPort, portRanges } from "../../../../../runtime/adapters/nats/server/free-port.ts";

const servers: Server[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) {
    server.close();
    await once(server, "close");
  }
});

test("each use has its own range, below the ephemeral ports", () => {
  const ranges = Object.values(portRanges).toSorted((one, other) => one.from - other.from);
  for (const [index, { from, below }] of ranges.entries()) {
    expect(below).toBeGreaterThan(from);
    expect(from).toBeGreaterThanOrEqual(ranges[index - 1]?.below ?? 1_024);
    // The ports of function processes begin there.
    expect(below).toBeLessThanOrEqual(20_000);
  }
});

test("no range holds a port that fetch refuses", async () => {
  const refused = 10_080;
  await expect(fetch(`http://127.0.0.1:${refused}/`)).rejects.toHaveProperty("cause.message", "bad port");
  for (const { from, below } of Object.values(portRanges)) expect(refused < from || refused >= below).toBe(true);
});

test("a port is from the range of its use, and can be listened on", async () => {
  for (const range of Object.values(portRanges)) {
    const port = await lastingPort(range);
    expect(port).toBeGreaterThanOrEqual(range.from);
    expect(port).toBeLessThan(range.below);
    const server = createServer().listen(port, "127.0.0.1");
    servers.push(server);
    await once(server, "listening");
  }
});
