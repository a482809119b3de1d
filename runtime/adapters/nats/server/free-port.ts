import { randomInt } from "node:crypto";
import { once } from "node:events";
import { createServer, type AddressInfo } from "node:net";

/** `port` (0 = any) if it is free on loopback, else undefined. Rejects when this user may not listen there. */
export async function tryPort(port: number): Promise<number | undefined> {
  const server = createServer();
  server.listen({ port, host: "127.0.0.1", exclusive: true });
  try {
    await once(server, "listening");
  } catch (err) {
    if (err instanceof Error && "code" in err && err.code === "EADDRINUSE") return undefined;
    throw err;
  }
  const address = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return address.port;
}

/**
 * Ranges from which lasting ports are drawn, one per use, so that a port nothing listens on yet is not drawn twice.
 * They lie below the ephemeral ports (from 32768 on Linux, 49152 on others) and those of the watchdog's processes, and
 * hold no port that browsers and `fetch` refuse (Fetch standard, "port blocking"; 10080 is the highest).
 */
export const portRanges = {
  gateway: { from: 10_100, below: 12_500 },
  admin: { from: 12_500, below: 15_000 },
  broker: { from: 15_000, below: 17_500 },
  brokerMonitor: { from: 17_500, below: 20_000 },
} as const;

const attempts = 20;

/**
 * A free loopback port that is likely to stay free until its user listens there, after a start or a restart, as no
 * other process gets it by chance; undefined when none is free.
 */
export async function lastingPort(range: (typeof portRanges)[keyof typeof portRanges]): Promise<number | undefined> {
  for (let attempt = 0; attempt < attempts; attempt += 1) {
    const port = await tryPort(randomInt(range.from, range.below));
    if (port !== undefined) return port;
  }
  return await tryPort(0);
}
