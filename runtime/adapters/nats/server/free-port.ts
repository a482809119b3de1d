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
