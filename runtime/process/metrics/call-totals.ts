/** Counts the calls of one function in this process. Times are monotonic milliseconds. */
export class CallTotals {
  /** Calls in flight, including those that wait for a replica. */
  inFlight = 0;
  /** Calls that ended. */
  finished = 0;
  #busy = 0;
  #changedAt = 0;

  begin(now: number): void {
    this.#advance(now);
    this.inFlight += 1;
  }

  /** A call that began has ended. */
  end(now: number): void {
    this.#advance(now);
    this.inFlight -= 1;
    this.finished += 1;
  }

  /** Milliseconds that all calls so far were in flight, added up. */
  busyUntil(now: number): number {
    return this.#busy + this.inFlight * (now - this.#changedAt);
  }

  /** `now` may lie before the last change: the sum is the same. */
  #advance(now: number): void {
    this.#busy = this.busyUntil(now);
    this.#changedAt = now;
  }
}
