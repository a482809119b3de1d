/** What a lease is told about its delivery. */
export interface LeaseParts {
  /** Milliseconds the queue waits before it offers the call to another worker. */
  readonly ackWait: number;
  /** Monotonic milliseconds of the delivery. */
  readonly deliveredAt: number;
  /** Asks the queue for the whole lease again; false when that could not be sent. */
  readonly extend: () => boolean;
}

/** Result of touching the call's record: it is still ours, nobody answered, or it is another's. */
export type Touch = "ours" | "no-answer" | "not-ours";

/**
 * The right to act for one call, counted from its delivery. Every third of `ackWait` it touches the record, then
 * extends the lease at the queue. When the last that worked was sent `ackWait` of monotonic time ago, or the record is
 * another's, the lease is lost: whoever held it must stop and say nothing. The deadline does not wait for a heartbeat: by
 * then another worker may have begun.
 */
export class Lease {
  readonly #parts: LeaseParts;
  readonly #lost = new AbortController();
  readonly #ended = new AbortController();
  readonly #heartbeat: NodeJS.Timeout;
  #deadline: NodeJS.Timeout | undefined;
  /** When the last that worked was sent. */
  #provenAt: number;
  #touch: (() => Promise<Touch>) | undefined;
  #beating = false;
  #closed = false;

  constructor(parts: LeaseParts) {
    this.#parts = parts;
    this.#provenAt = parts.deliveredAt;
    this.#heartbeat = setInterval(() => void this.#beat(), Math.max(10, Math.floor(parts.ackWait / 3)));
    this.#awaitDeadline();
  }

  /** Aborts when the lease is lost; has aborted when that is so by the clock, though the timer may be late. */
  get lost(): AbortSignal {
    this.#check();
    return this.#lost.signal;
  }

  /** From now on each heartbeat touches the record first. */
  touchWith(touch: () => Promise<Touch>): void {
    this.#touch = touch;
  }

  /** From now on heartbeats only extend. */
  stopTouching(): void {
    this.#touch = undefined;
  }

  /** It is lost, too, when `signal` aborts. */
  loseWith(signal: AbortSignal): void {
    if (signal.aborted) this.#lose();
    else signal.addEventListener("abort", () => this.#lose(), { once: true, signal: this.#ended.signal });
  }

  /**
   * A write of the record that was sent at `sentAt` (monotonic milliseconds) succeeded: that proves the lease as a touch
   * does. The broker counts from when it came there, which is no earlier.
   */
  proven(sentAt: number): void {
    if (this.#closed || this.lost.aborted || sentAt <= this.#provenAt) return;
    this.#provenAt = sentAt;
    this.#awaitDeadline();
  }

  /** Ends the heartbeat; the lease runs out by itself, or the verdict ends it. */
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
      const touched = (await this.#touch?.()) ?? "ours";
      // A verdict was given meanwhile: to extend now would undo its delay.
      if (this.#closed) return;
      if (touched === "not-ours") this.#lose();
      else if (touched === "ours" && !this.lost.aborted && this.#parts.extend()) this.proven(sentAt);
    } finally {
      this.#beating = false;
    }
  }

  /**
   * A process that was stopped, or had no processor, hears answers and runs its heartbeat before the timer of the deadline:
   * neither begins anything then, nor renews what another may hold by now.
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
