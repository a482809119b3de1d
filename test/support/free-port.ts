import { once } from "node:events";
import { createServer } from "node:net";

import { lastingPort } from "../../runtime/adapters/nats/server/free-port.ts";

/**
 * A TCP port of 127.0.0.1 that nobody listens on now, and nobody gets who asks for any. Another one may still take it in
 * between: prefer port 0 where what is started can say which port it got.
 */
export async function freePort(): Promise<number> {
  const port = await lastingPort();
  if (port === undefined) throw new Error("Cannot find a free port: all are in use");
  return port;
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
