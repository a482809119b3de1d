import { once } from "node:events";
import { createServer } from "node:net";

/**
 * A TCP port of 127.0.0.1 that nobody listens on now. Another process may take it in between: prefer port 0 where what
 * is started can say which port it got.
 */
export async function freePort(): Promise<number> {
  const server = createServer();
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  if (address === null || typeof address === "string") throw new Error("Cannot find a free port: no address given");
  return address.port;
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
