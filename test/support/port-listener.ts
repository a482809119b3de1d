import { once } from "node:events";
import { createServer, type Socket } from "node:net";

/** Accepts connections and sends nothing. */
export interface PortListener extends AsyncDisposable {
  readonly port: number;
}

/** Listens on `port` of `host`; 0 = any free port. */
export async function portListener(host: string, port: number): Promise<PortListener> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => {}).on("close", () => sockets.delete(socket));
  });
  server.listen(port, host);
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("Cannot listen: no address given");
  return {
    port: address.port,
    [Symbol.asyncDispose]: async () => {
      server.close();
      for (const socket of sockets) socket.destroy();
      await once(server, "close");
    },
  };
}
