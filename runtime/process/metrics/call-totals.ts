/** Counts the calls of one function in this process. Times are monotonic milliseconds. */
export class CallTotals {
  /** Calls in flight, including those that wait for a replica. */
  inFlight = 0;
  /** Calls that ended, and were whole: what load is judged by. */
  finished = 0;
  #busy = 0;
  #changedAt = 0;

  begin(now: number): void {
    this.#advance(now);
    this.inFlight += 1;
  }

  /** A call that began has ended; with `isWhole` false its client left before it had sent the whole request. */
  end(now: number, isWhole = true): void {
    this.#advance(now);
    this.inFlight -= 1;
    if (isWhole) this.finished += 1;
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
