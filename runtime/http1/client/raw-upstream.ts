import type { Upstream, UpstreamCall, UpstreamListener, UpstreamRequest } from "../../core/ports/upstream.ts";
import { socketPathOf, unixAuthority } from "../../api/replica-address.ts";
import { ConnectionPool } from "./connection-pool.ts";
import { RawCall } from "./raw-call.ts";
import type { TlsRule } from "./raw-connection.ts";
import { rawRequest } from "./request-head.ts";
import { DeferredReuse } from "./deferred-reuse.ts";

/** Milliseconds between two sweeps for connections that were idle for too long. */
const sweepPeriod = 1_000;
const defaultIdleTime = 4_000;
/** TCP may hold a short write back for 200 ms (delayed acknowledgement). */
const defaultRestTime = 250;

interface Replica {
  /** The value of `Host`. */
  readonly host: string;
  readonly pool: ConnectionPool;
}

/** Durations in milliseconds. */
export interface RawUpstreamOptions {
  /** Longest that connecting may take; then the replica counts as refusing. */
  readonly connectTimeout: number;
  /** How long an idle connection is kept if the replica does not say; 4 s if absent. */
  readonly idleTime?: number | undefined;
  /** How long a connection rests after a response without body; 0 closes it. */
  readonly restTime?: number | undefined;
  /** Absent: no address with `https://` can be called. */
  readonly tls?: TlsRule | undefined;
}

/**
 * `Upstream` for HTTP/1.1 over raw sockets. An address is `host:port`, `unix:` and a path, or an origin; `https://` means
 * TLS.
 */
export class RawUpstream implements Upstream {
  readonly #connectTimeout: number;
  readonly #idleTime: number;
  readonly #restTime: number;
  readonly #tls: TlsRule | undefined;
  readonly #replicas = new Map<string, Replica>();
  readonly #turns = new DeferredReuse();
  #sweep: NodeJS.Timeout | undefined;

  constructor({ connectTimeout, idleTime = defaultIdleTime, restTime = defaultRestTime, tls }: RawUpstreamOptions) {
    this.#connectTimeout = connectTimeout;
    this.#idleTime = idleTime;
    this.#restTime = restTime;
    this.#tls = tls;
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

  release(address: string): void {
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
      const path = socketPathOf(address);
      const url = new URL(
        path !== undefined ? `http://${unixAuthority}` : address.includes("://") ? address : `http://${address}`,
      );
      const secure = url.protocol === "https:";
      if (secure && this.#tls === undefined) throw new Error(`Cannot call "${address}": TLS is not set up`);
      if (!secure && url.protocol !== "http:") throw new Error(`Cannot call "${address}": it is not an HTTP address`);
      const destination = {
        host: url.hostname.replace(/^\[|\]$/g, ""),
        port: url.port === "" ? (secure ? 443 : 80) : Number(url.port),
        path,
        connectTimeout: this.#connectTimeout,
        idleTime: this.#idleTime,
        restTime: this.#restTime,
        tls: secure ? this.#tls : undefined,
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

/** A call whose request cannot be sent: it fails as refused. */
function unsendable(err: Error, listener: UpstreamListener): UpstreamCall {
  let over = false;
  queueMicrotask(() => {
    if (!over) listener.onError("refused", err);
  });
  return { resume: () => {}, abort: () => void (over = true) };
}
