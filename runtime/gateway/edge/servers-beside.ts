import { once } from "node:events";
import type { AddressInfo } from "node:net";

import { stopAccepting } from "../../process/sockets/stop-accepting.ts";
import type { Http1Server } from "./http1/http1-server.ts";

/** Milliseconds between two checks for idle connections of a server that stopped listening. */
const idlePeriod = 100;

/** Milliseconds for which the newest connections may still begin their first request. */
const firstRequest = 1_000;

/** Where a server listens; port 0 = any free one. */
export interface ListenAddress {
  readonly host: string;
  readonly port: number;
}

/** Resolves with the port; rejects when it cannot listen at the address. */
export async function startServer({ listener }: Http1Server, { host, port }: ListenAddress): Promise<number> {
  listener.listen(port, host);
  await once(listener, "listening");
  return (listener.address() as AddressInfo).port;
}

/** Stops listening, then closes idle connections and resolves when the last reply was sent. */
export async function endServer(server: Http1Server): Promise<void> {
  const { listener } = server;
  if (!listener.listening) return;
  const closed = once(listener, "close");
  await stopAccepting(listener, () => listener.close());
  const shut = performance.now();
  // Each check waits for a turn of the event loop, as a request may lie unread. It repeats, as connections whose reply
  // began before the drain become idle later.
  const idle = setInterval(() => {
    setImmediate(() => server.closeIdle(performance.now() < shut + firstRequest));
  }, idlePeriod);
  await closed;
  clearInterval(idle);
}

/** Servers at a changing set of addresses. */
export class ServersBeside {
  readonly #create: () => Http1Server;
  readonly #running = new Map<string, Http1Server>();
  #last: Promise<unknown> = Promise.resolve();
  #closed = false;

  constructor(create: () => Http1Server) {
    this.#create = create;
  }

  /** Serves exactly these addresses; rejects with the error of the first that fails, once the others are served. */
  serve(addresses: readonly ListenAddress[]): Promise<void> {
    const done = this.#last.then(() => (this.#closed ? undefined : this.#serve(addresses)));
    this.#last = done.catch(() => {});
    return done;
  }

  /** Closes all connections. */
  closeAll(): void {
    for (const server of this.#running.values()) server.closeAll();
  }

  /** Ends all of them; no further one starts. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#last;
    await Promise.all([...this.#running.values()].map(endServer));
  }

  async #serve(addresses: readonly ListenAddress[]): Promise<void> {
    const wanted = new Map(addresses.map((address) => [`${address.host} ${address.port}`, address]));
    for (const [key, server] of this.#running) {
      if (wanted.has(key)) continue;
      this.#running.delete(key);
      // The address is gone from this machine, and its connections with it.
      server.closeAll();
      await endServer(server);
    }
    const failed: unknown[] = [];
    for (const [key, address] of wanted) {
      if (this.#running.has(key)) continue;
      const server = this.#create();
      try {
        await startServer(server, address);
        this.#running.set(key, server);
      } catch (err) {
        failed.push(err);
      }
    }
    if (failed.length > 0) throw failed[0];
  }
}
