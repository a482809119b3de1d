/** What a lease needs of its delivery. */
export interface LeaseParts {
  /** Milliseconds after which the queue delivers the call to another worker. */
  readonly ackWait: number;
  /** Monotonic milliseconds of the delivery. */
  readonly deliveredAt: number;
  /** Asks the queue to extend the lease to its whole length again; false when that could not be sent. */
  readonly extend: () => boolean;
}

/** Result of renewing the call's record: it is still ours, there was no reply, or it is another worker's. */
export type Touch = "ours" | "no-answer" | "not-ours";

/**
 * The right to act for one call, counted from its delivery. Every third of `ackWait` a heartbeat renews the record,
 * then extends the lease at the queue. The lease is lost when the last success was sent `ackWait` ago (monotonic), or
 * the record is another worker's: its holder must then stop and publish nothing. The deadline does not wait for a
 * heartbeat, as by then another worker may have begun.
 */
export class Lease {
  readonly #parts: LeaseParts;
  readonly #lost = new AbortController();
  readonly #ended = new AbortController();
  readonly #heartbeat: NodeJS.Timeout;
  #deadline: NodeJS.Timeout | undefined;
  /** When the last success was sent, monotonic milliseconds. */
  #provenAt: number;
  #renew: (() => Promise<Touch>) | undefined;
  #beating = false;
  #closed = false;

  constructor(parts: LeaseParts) {
    this.#parts = parts;
    this.#provenAt = parts.deliveredAt;
    this.#heartbeat = setInterval(() => void this.#beat(), Math.max(10, Math.floor(parts.ackWait / 3)));
    this.#awaitDeadline();
  }

  /** Aborts when the lease is lost; reading it checks the clock, as the timer may be late. */
  get lost(): AbortSignal {
    this.#check();
    return this.#lost.signal;
  }

  /** From now on each heartbeat first renews the record with `renew`. */
  touchWith(renew: () => Promise<Touch>): void {
    this.#renew = renew;
  }

  /** From now on heartbeats only extend the lease at the queue. */
  stopTouching(): void {
    this.#renew = undefined;
  }

  /** The lease is also lost when `signal` aborts. */
  loseWith(signal: AbortSignal): void {
    if (signal.aborted) this.#lose();
    else signal.addEventListener("abort", () => this.#lose(), { once: true, signal: this.#ended.signal });
  }

  /**
   * A write of the record that was sent at `sentAt` (monotonic milliseconds) succeeded, which proves the lease as a
   * renewal does. The broker counts from the arrival of the write, which is not earlier.
   */
  proven(sentAt: number): void {
    if (this.#closed || this.lost.aborted || sentAt <= this.#provenAt) return;
    this.#provenAt = sentAt;
    this.#awaitDeadline();
  }

  /** Ends the heartbeat; the lease runs out by itself, or is ended by an acknowledgement or requeue. */
  close(): void {
    this.#closed = true;
    this.#ended.abort();
    this.#endTimers();
  }

  async #beat(): Promise<void> {
    if (this.#beating || this.lost.aborted) return;
    this.#beating = true;
    const sentAt = performance.now();
    try {
      const renewal = (await this.#renew?.()) ?? "ours";
      // The call was acknowledged or requeued meanwhile: extending now would undo a requeue's delay.
      if (this.#closed) return;
      if (renewal === "not-ours") this.#lose();
      else if (renewal === "ours" && !this.lost.aborted && this.#parts.extend()) this.proven(sentAt);
    } finally {
      this.#beating = false;
    }
  }

  /**
   * A process that was suspended, or got no processor time, may handle replies and its heartbeat before the timer of
   * the deadline. This check keeps both from starting anything, or renewing what another worker may hold by now.
   */
  #check(): void {
    if (this.#closed || this.#lost.signal.aborted) return;
    if (performance.now() - this.#provenAt >= this.#parts.ackWait) this.#lose();
  }

  #awaitDeadline(): void {
    clearTimeout(this.#deadline);
    const left = this.#provenAt + this.#parts.ackWait - performance.now();
    this.#deadline = setTimeout(() => this.#lose(), Math.max(0, left));
  }

  #lose(): void {
    this.#endTimers();
    this.#lost.abort();
  }

  #endTimers(): void {
    clearInterval(this.#heartbeat);
    clearTimeout(this.#deadline);
  }
}
