/** What `HostSlots` is made with. */
export interface HostSlotsOptions {
  /** Callbacks sent at once to one host. */
  readonly perHost: number;
  /** Workers that send callbacks, this one among them. */
  readonly workers: number;
  /** Monotonic milliseconds. */
  readonly now?: () => number;
  readonly random?: () => number;
}

/** A slot to send in, or the milliseconds after which the callback is to be offered again. */
export type HostSlot = { readonly release: () => void } | { readonly requeueFor: number };

interface Host {
  taken: number;
  /** By position in the queue: when what was put back is offered again. */
  readonly waiting: Map<number, number>;
  /** Callbacks that were sent: in the second that began at `countedFrom`, and in the one before. */
  sent: number;
  sentBefore: number;
  countedFrom: number;
}

/** Callbacks to a busy host that may be offered again in a second, of all workers together; more if it takes more. */
const offersPerSecond = 150;
const shortestDelay = 1_000;
const longestDelay = 15 * 60_000;
const jitter = 0.2;
/** What was not offered here again that long after it was due is with another worker, or settled. */
const patience = 60_000;
const sweepPeriod = 10_000;

/**
 * Bounds how many callbacks go to one host at once, so that a slow one does not hold up the others; and how often those
 * that find it busy are offered again: the more there are, the later, so that all of them cost no more than a few.
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
    // Its own place is counted, too: it may wait here for the first time.
    const backlog = host.waiting.size + (host.waiting.has(sequence) ? 0 : 1);
    this.#count(host);
    const offers = Math.max(offersPerSecond / this.#options.workers, 2 * host.sentBefore);
    const wait = shortestDelay + (backlog * 1_000) / offers;
    const delay = Math.round(Math.min(wait, longestDelay) * (1 - jitter + 2 * jitter * this.#options.random()));
    host.waiting.set(sequence, now + delay);
    return delay;
  }

  /** A host that is only busy, not hung, is offered twice as many as it took: so it gets as many as it can take soon. */
  #count(host: Host): void {
    const seconds = Math.floor((this.#options.now() - host.countedFrom) / 1_000);
    if (seconds === 0) return;
    host.sentBefore = seconds === 1 ? host.sent : 0;
    host.sent = 0;
    host.countedFrom += seconds * 1_000;
  }

  /** Now and then: what is with others, and hosts that nobody sends to. */
  #sweep(): void {
    const now = this.#options.now();
    if (now - this.#sweptAt < sweepPeriod) return;
    this.#sweptAt = now;
    for (const [name, host] of this.#hosts) {
      for (const [sequence, due] of host.waiting) if (now - due > patience) host.waiting.delete(sequence);
      if (host.taken === 0 && host.waiting.size === 0) this.#hosts.delete(name);
    }
  }
}

function newHost(now: number): Host {
  return { taken: 0, waiting: new Map(), sent: 0, sentBefore: 0, countedFrom: now };
}
