import { randomInt } from "node:crypto";
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { createServer } from "node:net";

/**
 * Above the ephemeral ports of Linux (`ip_local_port_range`), and apart from the ports that the product picks for its
 * broker.
 */
const range = { from: 61_000, below: 65_536 };
const attempts = 50;

/**
 * A TCP port of 127.0.0.1 that nobody listens on, reserved for this process until it ends: what it starts may listen
 * there, stop and listen again, and no other test gets the port.
 */
export async function freePort(): Promise<number> {
  for (let attempt = 0; attempt < attempts; attempt += 1) {
    const port = randomInt(range.from, range.below);
    if ((await reserve(port)) && (await isFreePort(port))) return port;
  }
  throw new Error(`Cannot find a free port: ${attempts} of ${range.from} to ${range.below - 1} are in use`);
}

/**
 * Reserves `port` for this process by binding the UDP port of the same number, which the system releases when the
 * process ends. A lock file would remain when a test is killed.
 */
async function reserve(port: number): Promise<boolean> {
  const socket = createSocket("udp4");
  const inUse = await new Promise<boolean>((resolve) => {
    socket.once("error", () => resolve(true));
    socket.bind({ port, address: "127.0.0.1", exclusive: true }, () => resolve(false));
  });
  if (inUse) socket.close();
  else socket.unref();
  return !inUse;
}

/** Whether a server could listen on `port` of 127.0.0.1 now. */
export async function isFreePort(port: number): Promise<boolean> {
  const server = createServer();
  const free = await new Promise<boolean>((resolve) => {
    server.once("error", () => resolve(false));
    server.listen(port, "127.0.0.1", () => resolve(true));
  });
  if (free) {
    server.close();
    await once(server, "close");
  }
  return free;
}
