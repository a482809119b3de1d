import type { ResponseHead } from "../response-head.ts";
import { HeadCache } from "../head-cache.ts";
import type { RawCall } from "./raw-call.ts";
import { RawConnection, type ConnectionOwner, type Destination } from "./raw-connection.ts";
import type { DeferredReuse } from "./deferred-reuse.ts";

/**
 * Connections that are opened at the same time: a server's accept queue is short, 511 for Node.js and nginx, and
 * several gateways may connect at once.
 */
const maxOpening = 128;
/** Milliseconds without new connections to a replica that accepted none in time, while it has open ones. */
const fullFor = 1_000;

/**
 * The connections to one address: one per concurrent call, up to as many as the replica accepts. Further calls wait, in
 * order, for a connection that opens or becomes idle.
 */
export class ConnectionPool implements ConnectionOwner {
  readonly heads = new HeadCache<ResponseHead>();
  readonly #destination: Destination;
  readonly #turns: DeferredReuse;
  readonly #open = new Set<RawConnection>();
  /** Those of `#open` that are still connecting. */
  readonly #opening = new Set<RawConnection>();
  #waiting: RawCall[] = [];
  /** No connection is opened before this time, in milliseconds of `performance.now()`. */
  #fullUntil = 0;
  /** The most recently used one is last; some may be closed already. */
  #idle: RawConnection[] = [];
  #forgotten = false;
  /** Whether the replica ever sent more than a response. */
  #careless = false;
  #closed = false;

  constructor(destination: Destination, turns: DeferredReuse) {
    this.#destination = destination;
    this.#turns = turns;
  }

  send(call: RawCall): void {
    this.#waiting.push(call);
    this.#serve();
  }

  onOpened(connection: RawConnection): void {
    this.#opening.delete(connection);
    this.#serve();
  }

  onConnectFailed(call: RawCall, err: Error, late: boolean): void {
    if (late && !this.#forgotten && this.#open.size > this.#opening.size) {
      this.#fullUntil = performance.now() + fullFor;
      this.#waiting.unshift(call);
    } else {
      call.fail("refused", err);
    }
    this.#serve();
  }

  onIdle(connection: RawConnection): boolean {
    if (this.#forgotten) return false;
    if (this.#careless || connection.mayGetMore) {
      const { restTime } = this.#destination;
      if (restTime === 0) return false;
      setTimeout(() => this.#onRested(connection), restTime).unref();
      return true;
    }
    this.#idle.push(connection);
    this.#turns.onIdle(connection);
    this.#serve();
    return true;
  }

  onExcess(): void {
    this.#careless = true;
  }

  onNotSent(call: RawCall): void {
    this.#waiting.unshift(call);
    this.#serve();
  }

  onRetryable(call: RawCall, err: Error): void {
    if (this.#closed) return call.fail("reset", err);
    call.retried = true;
    this.onNotSent(call);
  }

  onClosed(connection: RawConnection): void {
    this.#open.delete(connection);
    this.#opening.delete(connection);
    this.#serve();
  }

  /** Closes connections that were idle for too long; `now` is a time of `performance.now()`. */
  sweep(now: number): void {
    this.#serve();
    if (this.#open.size === 0) this.heads.clear();
    this.#idle = this.#idle.filter((connection) => {
      if (!connection.idle) return false;
      if (connection.expires > now) return true;
      connection.close();
      return false;
    });
  }

  /** Closes idle connections now and the others after their calls; waiting calls fail. */
  forget(): void {
    this.#forgotten = true;
    for (const connection of this.#open) if (connection.idle) connection.close();
    this.#idle = [];
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const call of waiting) call.fail("refused", new Error("the replica is gone"));
  }

  /** Closes all connections; their calls fail. */
  async close(): Promise<void> {
    this.#closed = true;
    this.forget();
    const open = [...this.#open];
    for (const connection of open) connection.close();
    await Promise.all(open.map((connection) => connection.closed()));
  }

  #onRested(connection: RawConnection): void {
    if (!connection.idle) return;
    this.#idle.push(connection);
    this.#serve();
  }

  /** Assigns waiting calls to connections, as far as there are any. */
  #serve(): void {
    for (let call = this.#waiting[0]; call !== undefined; call = this.#waiting[0]) {
      if (!call.ended && !this.#assign(call)) return;
      this.#waiting.shift();
    }
  }

  #assign(call: RawCall): boolean {
    if (this.#closed) {
      call.fail("refused", new Error("the connections are being closed"));
      return true;
    }
    // An upgrade needs a connection opened for it; a retry does, too, as other kept connections may have ended as well.
    const kept = call.request.upgrade === undefined && !call.retried ? this.#takeIdle() : undefined;
    if (kept !== undefined) {
      kept.assign(call);
      this.#turns.schedule(kept);
      return true;
    }
    if (this.#opening.size >= maxOpening) return false;
    if (this.#open.size > this.#opening.size && performance.now() < this.#fullUntil) return false;
    const connection = new RawConnection(this, this.#destination, call);
    this.#open.add(connection);
    this.#opening.add(connection);
    return true;
  }

  #takeIdle(): RawConnection | undefined {
    for (let kept = this.#idle.pop(); kept !== undefined; kept = this.#idle.pop()) {
      if (!kept.idle) continue;
      if (kept.expires > performance.now()) return kept;
      kept.close();
    }
    return undefined;
  }
}
