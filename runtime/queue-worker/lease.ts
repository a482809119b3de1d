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
 * extends the lease at the queue. When neither worked for `ackWait` of monotonic time, or the record is another's, the
 * lease is lost: whoever held it must stop and say nothing.
 */
export class Lease {
  readonly #parts: LeaseParts;
  readonly #lost = new AbortController();
  readonly #ended = new AbortController();
  readonly #timer: NodeJS.Timeout;
  #lastSuccess: number;
  #touch: (() => Promise<Touch>) | undefined;
  #beating = false;
  #closed = false;

  constructor(parts: LeaseParts) {
    this.#parts = parts;
    this.#lastSuccess = parts.deliveredAt;
    this.#timer = setInterval(() => void this.#beat(), Math.max(10, Math.floor(parts.ackWait / 3)));
  }

  /** Aborts when the lease is lost. */
  get lost(): AbortSignal {
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

  /** A write of the record succeeded: that proves the lease as a touch does. */
  proven(): void {
    this.#lastSuccess = performance.now();
  }

  /** Ends the heartbeat; the lease runs out by itself, or the verdict ends it. */
  close(): void {
    this.#closed = true;
    this.#ended.abort();
    clearInterval(this.#timer);
  }

  async #beat(): Promise<void> {
    this.#check();
    if (this.#beating || this.#lost.signal.aborted) return;
    this.#beating = true;
    try {
      const touched = (await this.#touch?.()) ?? "ours";
      // A verdict was given meanwhile: to extend now would undo its delay.
      if (this.#closed) return;
      if (touched === "not-ours") this.#lose();
      else if (touched === "ours" && this.#parts.extend()) this.#lastSuccess = performance.now();
    } finally {
      this.#beating = false;
      this.#check();
    }
  }

  #check(): void {
    if (!this.#closed && performance.now() - this.#lastSuccess >= this.#parts.ackWait) this.#lose();
  }

  #lose(): void {
    clearInterval(this.#timer);
    this.#lost.abort();
  }
}
