import type { RawConnection } from "./raw-connection.ts";

/**
 * Lets kept connections hear what came on them before they are used again. A request is sent at the end of a turn of the
 * event loop that read from the connection, after the one in which its last answer came: a replica that closed it, or
 * said more than it was asked, is noticed first.
 */
export class ReuseTurns {
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
      if (connection.fresh) this.begin(connection);
      else connection.begin();
    }
    for (const connection of resting) connection.fresh = false;
  };

  /** The connection's answer is over. */
  rest(connection: RawConnection): void {
    connection.fresh = true;
    this.#resting.push(connection);
    this.#schedule();
  }

  /** The connection is to begin with the call that it took. */
  begin(connection: RawConnection): void {
    this.#due.push(connection);
    this.#schedule();
  }

  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    setImmediate(this.#turn);
  }
}
