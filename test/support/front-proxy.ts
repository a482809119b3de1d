import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";

import type { Platform } from "./platform.ts";

/** A server behind a front proxy. */
export interface Backend {
  readonly port: number;
  /** Its readiness probe: whether it accepts new connections. */
  readonly isReady: () => Promise<boolean>;
}

/** A simple load balancer: connections go in turn to the backends that are ready. */
export interface FrontProxy extends AsyncDisposable {
  readonly port: number;
  /** Without a path. */
  readonly url: string;
}

const probeEvery = 50;

/** Opens it on a free port of 127.0.0.1; it skips a backend that refuses a connection. */
export async function openFrontProxy(backends: readonly Backend[]): Promise<FrontProxy> {
  const ready = new Set<Backend>(backends);
  const sockets = new Set<Socket>();
  let turn = 0;
  const probing = new Set<Backend>();
  const probeBackend = async (backend: Backend): Promise<void> => {
    // One at a time: a late result must not overwrite a newer one.
    if (probing.has(backend)) return;
    probing.add(backend);
    const isReady = await backend.isReady().catch(() => false);
    if (isReady) ready.add(backend);
    else ready.delete(backend);
    probing.delete(backend);
  };
  const probe = setInterval(() => void Promise.all(backends.map(probeBackend)), probeEvery);

  const track = (socket: Socket): void => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
    socket.on("error", () => undefined);
  };
  const route = (client: Socket, left: readonly Backend[]): void => {
    const [backend, ...rest] = left;
    if (backend === undefined) {
      client.resetAndDestroy();
      return;
    }
    const upstream = connect({ host: "127.0.0.1", port: backend.port, noDelay: true });
    track(upstream);
    let connected = false;
    upstream.once("connect", () => {
      connected = true;
      client.pipe(upstream).pipe(client);
    });
    upstream.once("close", () => (connected ? client.destroySoon() : route(client, rest)));
    client.once("close", () => connected && upstream.destroySoon());
  };
  const server = createServer({ noDelay: true }, (client) => {
    track(client);
    const first = turn++ % backends.length;
    const inTurn = [...backends.slice(first), ...backends.slice(0, first)];
    route(
      client,
      inTurn.toSorted((a, b) => Number(ready.has(b)) - Number(ready.has(a))),
    );
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("Cannot open front proxy: no address given");
  return {
    port: address.port,
    url: `http://127.0.0.1:${address.port}`,
    [Symbol.asyncDispose]: async () => {
      clearInterval(probe);
      server.close();
      for (const socket of sockets) socket.destroy();
      await once(server, "close");
    },
  };
}

/** Opens it in front of the gateways of a platform. */
export function openGatewaysFront(platform: Pick<Platform, "gateways" | "probe">): Promise<FrontProxy> {
  return openFrontProxy(
    platform.gateways.map((gateway) => ({
      port: Number(gateway.ready["port"]),
      isReady: async () => (await platform.probe(gateway, "/readyz")) === 200,
    })),
  );
}
