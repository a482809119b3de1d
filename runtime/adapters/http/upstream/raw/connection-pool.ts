import type { ResponseHead } from "../../../../http1/response-head.ts";
import { HeadCache } from "../../../../http1/head-cache.ts";
import type { RawCall } from "./raw-call.ts";
import { RawConnection, type ConnectionOwner, type Destination } from "./raw-connection.ts";
import type { ReuseTurns } from "./reuse-turns.ts";

/**
 * Connections that are opened at the same time: a server lets few wait to be taken, 511 where Node.js or nginx listens, and
 * several gateways may come at once.
 */
const mostOpening = 128;
/** Milliseconds for which a replica that takes no more connections is asked for none, while it answers over those it has. */
const fullFor = 1_000;

/**
 * The connections to one address, as many as there are calls at the same time, or as many as it takes. Calls beyond them
 * wait, in order, for one that is opened or becomes free.
 */
export class ConnectionPool implements ConnectionOwner {
  readonly heads = new HeadCache<ResponseHead>();
  readonly #destination: Destination;
  readonly #turns: ReuseTurns;
  readonly #open = new Set<RawConnection>();
  /** Those of the open ones that are not yet. */
  readonly #opening = new Set<RawConnection>();
  #waiting: RawCall[] = [];
  /** Until when no connection is opened, in milliseconds of `performance.now()`. */
  #fullUntil = 0;
  /** The one used last at the end; some may be closed already. */
  #idle: RawConnection[] = [];
  #forgotten = false;
  #closed = false;

  constructor(destination: Destination, turns: ReuseTurns) {
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

  onUnopened(call: RawCall, err: Error, late: boolean): void {
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
    this.#idle.push(connection);
    this.#turns.rest(connection);
    this.#serve();
    return true;
  }

  onUnsent(call: RawCall): void {
    this.#waiting.unshift(call);
    this.#serve();
  }

  onUnanswered(call: RawCall, err: Error): void {
    if (this.#closed) return call.fail("reset", err);
    call.sentAgain = true;
    this.onUnsent(call);
  }

  onClosed(connection: RawConnection): void {
    this.#open.delete(connection);
    this.#opening.delete(connection);
    this.#serve();
  }

  /** Closes the connections that were idle for too long; `now` is of `performance.now()`. */
  sweep(now: number): void {
    this.#serve();
    if (this.#open.size === 0) this.heads.forget();
    this.#idle = this.#idle.filter((connection) => {
      if (!connection.idle) return false;
      if (connection.expires > now) return true;
      connection.close();
      return false;
    });
  }

  /** Closes idle connections now and the others after their calls. */
  forget(): void {
    this.#forgotten = true;
    for (const connection of this.#idle) if (connection.idle) connection.close();
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

  /** Lets connections carry the calls that wait, as far as there are any. */
  #serve(): void {
    for (let call = this.#waiting[0]; call !== undefined; call = this.#waiting[0]) {
      if (!call.over && !this.#carry(call)) return;
      this.#waiting.shift();
    }
  }

  #carry(call: RawCall): boolean {
    if (this.#closed) {
      call.fail("refused", new Error("the connections are being closed"));
      return true;
    }
    // A connection that may be handed on is opened for that, and others that were kept may have ended, too.
    const kept = call.request.upgrade === undefined && !call.sentAgain ? this.#takeIdle() : undefined;
    if (kept !== undefined) {
      kept.take(call);
      this.#turns.begin(kept);
      return true;
    }
    if (this.#opening.size >= mostOpening) return false;
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
