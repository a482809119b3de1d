import { randomInt } from "node:crypto";
import { once } from "node:events";
import { createServer, type AddressInfo } from "node:net";

/** `port` if nothing listens there on loopback, any free one for 0; undefined when it is taken. Rejects when this user may not. */
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
 * Where lasting ports are drawn from, one range per use, so that a port that is not listened on yet is not drawn twice.
 * Below the ports that systems give to outgoing connections and to whoever asks for any (from 32768 on Linux, 49152 on
 * others), and below those of the watchdog's processes.
 */
export const portRanges = {
  gateway: { from: 10_000, below: 12_500 },
  admin: { from: 12_500, below: 15_000 },
  broker: { from: 15_000, below: 17_500 },
  brokerMonitor: { from: 17_500, below: 20_000 },
} as const;

const attempts = 20;

/**
 * A free port of loopback that is likely to be free still when its user listens there, after a start or a restart, as no
 * other process gets it by chance; undefined when none is free.
 */
export async function lastingPort(range: (typeof portRanges)[keyof typeof portRanges]): Promise<number | undefined> {
  for (let attempt = 0; attempt < attempts; attempt += 1) {
    const port = await tryPort(randomInt(range.from, range.below));
    if (port !== undefined) return port;
  }
  return await tryPort(0);
}
