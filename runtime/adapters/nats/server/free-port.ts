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

/** Systems give ports to outgoing connections, and to whoever asks for any, from 32768 (Linux) or 49152 (others) on. */
const range = { from: 10_000, below: 32_768 };
const attempts = 20;

/**
 * A free port of loopback that is likely to be free again after whoever listens there was restarted, as no other process
 * gets it by chance; undefined when none is free.
 */
export async function lastingPort(): Promise<number | undefined> {
  for (let attempt = 0; attempt < attempts; attempt += 1) {
    const port = await tryPort(randomInt(range.from, range.below));
    if (port !== undefined) return port;
  }
  return await tryPort(0);
}
