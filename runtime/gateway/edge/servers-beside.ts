import { once } from "node:events";
import type { AddressInfo } from "node:net";

import { stopAccepting } from "../../process/stop-accepting.ts";
import type { Http1Server } from "./http1/http1-server.ts";

/** Milliseconds between two looks for idle connections of a server that stopped listening. */
const idlePeriod = 100;

/** Milliseconds for which a connection that came last may still begin its first request. */
const firstRequest = 1_000;

/** Where a server listens; port 0 = any free one. */
export interface ListenAddress {
  readonly host: string;
  readonly port: number;
}

/** Resolves with the port; rejects when the address cannot be had. */
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
  // After a turn as well, as a request may lie there unread. Connections whose reply began before the drain are idle later.
  const idle = setInterval(() => {
    setImmediate(() => server.closeIdle(performance.now() < shut + firstRequest));
  }, idlePeriod);
  await closed;
  clearInterval(idle);
}

/** Servers at addresses that come and go. */
export class ServersBeside {
  readonly #make: () => Http1Server;
  readonly #running = new Map<string, Http1Server>();
  #last: Promise<unknown> = Promise.resolve();
  #closed = false;

  constructor(make: () => Http1Server) {
    this.#make = make;
  }

  /** Serves at exactly these addresses; rejects with the first that cannot be had, when the others are served. */
  serve(addresses: readonly ListenAddress[]): Promise<void> {
    const done = this.#last.then(() => (this.#closed ? undefined : this.#serve(addresses)));
    this.#last = done.catch(() => {});
    return done;
  }

  /** Closes all connections. */
  closeAll(): void {
    for (const server of this.#running.values()) server.closeAll();
  }

  /** Ends all of them; none starts any more. */
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
      // Its address is gone from this machine, and with it whoever was connected to it.
      server.closeAll();
      await endServer(server);
    }
    const failed: unknown[] = [];
    for (const [key, address] of wanted) {
      if (this.#running.has(key)) continue;
      const server = this.#make();
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
