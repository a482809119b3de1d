import { randomInt } from "node:crypto";
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { createServer } from "node:net";

/**
 * Above the ports that Linux gives to outgoing connections and to whoever asks for any (`ip_local_port_range`), and apart
 * from those that the product picks for its broker.
 */
const range = { from: 61_000, below: 65_536 };
const attempts = 50;

/**
 * A TCP port of 127.0.0.1 that nobody listens on, and that this process alone has until it ends: whatever it starts may
 * listen there, stop and listen again, while no other test is given it.
 */
export async function freePort(): Promise<number> {
  for (let attempt = 0; attempt < attempts; attempt += 1) {
    const port = randomInt(range.from, range.below);
    if ((await claim(port)) && (await isFreePort(port))) return port;
  }
  throw new Error(`Cannot find a free port: ${attempts} of ${range.from} to ${range.below - 1} are in use`);
}

/**
 * Takes `port` for this process: its UDP namesake stays bound until the process ends, which the system sees to. A file
 * would stay behind when a test is killed.
 */
async function claim(port: number): Promise<boolean> {
  const socket = createSocket("udp4");
  const taken = await new Promise<boolean>((resolve) => {
    socket.once("error", () => resolve(true));
    socket.bind({ port, address: "127.0.0.1", exclusive: true }, () => resolve(false));
  });
  if (taken) socket.close();
  else socket.unref();
  return !taken;
}

/** Whether somebody could listen on `port` of 127.0.0.1 now. */
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
