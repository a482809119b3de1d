import type { RawConnection } from "./raw-connection.ts";

/**
 * Delays the reuse of kept connections until what arrived on them was read. A request is sent at the end of a turn of
 * the event loop that read from the connection, after the turn in which its last response ended: so a replica that
 * closed it, or sent more than it was asked for, is noticed first.
 */
export class DeferredReuse {
  #due: RawConnection[] = [];
  #resting: RawConnection[] = [];
  #scheduled = false;
  readonly #turn = (): void => {
    const due = this.#due;
    const resting = this.#resting;
    this.#due = [];
    this.#resting = [];
    this.#scheduled = false;
    for (const connection of due) {
      if (connection.fresh) this.schedule(connection);
      else connection.sendAssigned();
    }
    for (const connection of resting) connection.fresh = false;
  };

  /** The connection's response has ended. */
  onIdle(connection: RawConnection): void {
    connection.fresh = true;
    this.#resting.push(connection);
    this.#schedule();
  }

  /** The connection shall begin with the call assigned to it. */
  schedule(connection: RawConnection): void {
    this.#due.push(connection);
    this.#schedule();
  }

  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    setImmediate(this.#turn);
  }
}
