import type { Upstream, UpstreamCall, UpstreamListener, UpstreamRequest } from "../../../../core/ports/upstream.ts";
import { ConnectionPool } from "./connection-pool.ts";
import { RawCall } from "./raw-call.ts";
import { rawRequest } from "./request-head.ts";
import { ReuseTurns } from "./reuse-turns.ts";

/** Milliseconds between two looks for connections that were idle for too long. */
const sweepPeriod = 1_000;

interface Replica {
  /** The value of `Host`. */
  readonly host: string;
  readonly pool: ConnectionPool;
}

/** `Upstream` over sockets of our own, for HTTP/1.1 without TLS: `host:port`, or an origin that begins with `http://`. */
export class RawUpstream implements Upstream {
  readonly #connectTimeout: number;
  readonly #replicas = new Map<string, Replica>();
  readonly #turns = new ReuseTurns();
  #sweep: NodeJS.Timeout | undefined;

  /** Opening a connection may take so many milliseconds; then the replica counts as refusing. */
  constructor(connectTimeout: number) {
    this.#connectTimeout = connectTimeout;
  }

  dispatch(address: string, request: UpstreamRequest, listener: UpstreamListener): UpstreamCall {
    try {
      const { host, pool } = this.#replica(address);
      const call = new RawCall(rawRequest(host, request), listener);
      pool.send(call);
      return call;
    } catch (err) {
      return unsendable(err instanceof Error ? err : new Error(String(err)), listener);
    }
  }

  forget(address: string): void {
    this.#replicas.get(address)?.pool.forget();
    this.#replicas.delete(address);
  }

  async close(): Promise<void> {
    clearInterval(this.#sweep);
    this.#sweep = undefined;
    const replicas = [...this.#replicas.values()];
    this.#replicas.clear();
    await Promise.all(replicas.map(({ pool }) => pool.close()));
  }

  #replica(address: string): Replica {
    let replica = this.#replicas.get(address);
    if (replica === undefined) {
      const url = new URL(address.includes("://") ? address : `http://${address}`);
      if (url.protocol !== "http:") throw new Error(`Cannot call "${address}": it is no address of plain HTTP`);
      const destination = {
        host: url.hostname.replace(/^\[|\]$/g, ""),
        port: url.port === "" ? 80 : Number(url.port),
        connectTimeout: this.#connectTimeout,
      };
      replica = { host: url.host, pool: new ConnectionPool(destination, this.#turns) };
      this.#replicas.set(address, replica);
      this.#sweep ??= setInterval(() => this.#closeIdle(), sweepPeriod).unref();
    }
    return replica;
  }

  #closeIdle(): void {
    const now = performance.now();
    for (const { pool } of this.#replicas.values()) pool.sweep(now);
  }
}

/** A call that ends before it has a request. */
function unsendable(err: Error, listener: UpstreamListener): UpstreamCall {
  let over = false;
  queueMicrotask(() => {
    if (!over) listener.onError("refused", err);
  });
  return { resume: () => {}, abort: () => void (over = true) };
}
