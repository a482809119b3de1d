export interface HostSlotsOptions {
  /** Callbacks sent at once to one host. */
  readonly perHost: number;
  /** Workers that send callbacks, this one among them. */
  readonly workers: number;
  /** Monotonic milliseconds. */
  readonly now?: () => number;
  readonly random?: () => number;
}

/** A slot to send in, or the milliseconds after which the callback is to be redelivered. */
export type HostSlot = { readonly release: () => void } | { readonly requeueFor: number };

interface Host {
  taken: number;
  /** When a requeued callback is due again, by its position in the queue. */
  readonly waiting: Map<number, number>;
  /** Callbacks sent in the second that began at `countedFrom`, and in the one before. */
  sent: number;
  sentBefore: number;
  countedFrom: number;
}

/** Redeliveries per second of callbacks to a busy host, by all workers together; more for a host that takes more. */
const redeliveriesPerSecond = 150;
const shortestDelay = 1_000;
const longestDelay = 15 * 60_000;
const jitter = 0.2;
/** Milliseconds after which a callback that was due but not redelivered here is with another worker, or settled. */
const overdueAfter = 60_000;
const sweepPeriod = 10_000;

/**
 * Bounds how many callbacks go to one host at once, so that a slow host does not hold up the others. Also spaces the
 * redeliveries of those that find it busy: the more there are, the later, so that many cost no more than a few.
 */
export class HostSlots {
  readonly #options: Required<HostSlotsOptions>;
  readonly #hosts = new Map<string, Host>();
  #sweptAt: number;

  constructor(options: HostSlotsOptions) {
    this.#options = { now: () => performance.now(), random: Math.random, ...options };
    this.#sweptAt = this.#options.now();
  }

  /** Takes a slot for the host of `url`, for the callback at this position of the queue. */
  take(url: string, sequence: number): HostSlot {
    this.#sweep();
    const name = URL.parse(url)?.host ?? "";
    const host = this.#hosts.get(name) ?? newHost(this.#options.now());
    this.#hosts.set(name, host);
    if (host.taken >= this.#options.perHost) return { requeueFor: this.#requeue(host, sequence) };
    host.waiting.delete(sequence);
    host.taken += 1;
    let released = false;
    return {
      release: () => {
        if (released) return;
        released = true;
        host.taken -= 1;
        this.#count(host);
        host.sent += 1;
      },
    };
  }

  #requeue(host: Host, sequence: number): number {
    const now = this.#options.now();
    // Counts this callback, too, which may wait here for the first time.
    const backlog = host.waiting.size + (host.waiting.has(sequence) ? 0 : 1);
    this.#count(host);
    const rate = Math.max(redeliveriesPerSecond / this.#options.workers, 2 * host.sentBefore);
    const wait = shortestDelay + (backlog * 1_000) / rate;
    const delay = Math.round(Math.min(wait, longestDelay) * (1 - jitter + 2 * jitter * this.#options.random()));
    host.waiting.set(sequence, now + delay);
    return delay;
  }

  /** A busy host is offered twice as many as it took in the last second, and so soon gets as many as it can take. */
  #count(host: Host): void {
    const seconds = Math.floor((this.#options.now() - host.countedFrom) / 1_000);
    if (seconds === 0) return;
    host.sentBefore = seconds === 1 ? host.sent : 0;
    host.sent = 0;
    host.countedFrom += seconds * 1_000;
  }

  /** Drops, now and then, callbacks that are with other workers, and hosts that nothing is sent to. */
  #sweep(): void {
    const now = this.#options.now();
    if (now - this.#sweptAt < sweepPeriod) return;
    this.#sweptAt = now;
    for (const [name, host] of this.#hosts) {
      for (const [sequence, due] of host.waiting) if (now - due > overdueAfter) host.waiting.delete(sequence);
      if (host.taken === 0 && host.waiting.size === 0) this.#hosts.delete(name);
    }
  }
}

function newHost(now: number): Host {
  return { taken: 0, waiting: new Map(), sent: 0, sentBefore: 0, countedFrom: now };
}
