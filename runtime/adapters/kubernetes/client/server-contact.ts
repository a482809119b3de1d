import { setTimeout as pause } from "node:timers/promises";

/** A watch, as the metrics show it. */
export interface WatchedKind {
  readonly kind: string;
  /** Milliseconds since the API server last sent something about its objects; infinite before the first list. */
  readonly age: number;
}

/** How a contact behaves; durations are milliseconds. */
export interface ContactOptions {
  /** While watches wait, one of them retries this often, however long its own back-off is. */
  readonly probeEvery?: number;
  /** Called when the last failing watch has recovered. */
  readonly onRecovered?: () => void;
}

/** Together with the request itself, below the 5 s in which all watches are to have recovered. */
const probeEvery = 3_000;

/**
 * What the watches of one client share about their API server. Each has its own back-off, which grows to half a minute;
 * the first response after a failure wakes all the others.
 */
export class ServerContact {
  readonly #options: Required<ContactOptions>;
  readonly #watches = new Set<WatchedKind>();
  readonly #failing = new Set<WatchedKind>();
  /** The first one has waited longest. */
  readonly #sleepers = new Set<() => void>();
  #probe: NodeJS.Timeout | undefined;

  constructor(options: ContactOptions = {}) {
    this.#options = { probeEvery, onRecovered: () => {}, ...options };
  }

  /** All watches there are. */
  get watches(): Iterable<WatchedKind> {
    return this.#watches;
  }

  /** Whether a watch is interrupted. */
  get isFailing(): boolean {
    return this.#failing.size > 0;
  }

  join(watch: WatchedKind): void {
    this.#watches.add(watch);
  }

  leave(watch: WatchedKind): void {
    this.#watches.delete(watch);
    this.#failing.delete(watch);
  }

  /** Whether this is the first failing watch: one log line is enough for all. */
  failed(watch: WatchedKind): boolean {
    const isFirst = this.#failing.size === 0;
    this.#failing.add(watch);
    return isFirst;
  }

  /** The API server responded: if this watch was failing, all others retry at once. */
  responded(watch: WatchedKind): void {
    if (!this.#failing.has(watch)) return;
    for (const wake of this.#sleepers) wake();
  }

  /** The watch works again. */
  recovered(watch: WatchedKind): void {
    if (this.#failing.delete(watch) && this.#failing.size === 0) this.#options.onRecovered();
  }

  /** Resolves after `milliseconds`, or earlier when a retry is worthwhile; rejects with the reason of `signal`. */
  async sleep(milliseconds: number, signal: AbortSignal): Promise<void> {
    const woken = new AbortController();
    const wake = (): void => woken.abort();
    this.#sleepers.add(wake);
    if (this.#probe === undefined) this.#probe = this.#probeLater();
    try {
      await pause(milliseconds, undefined, { signal: AbortSignal.any([signal, woken.signal]) });
    } catch {
      signal.throwIfAborted();
    } finally {
      this.#sleepers.delete(wake);
    }
  }

  #probeLater(): NodeJS.Timeout {
    const timer = setTimeout(
      () => {
        const [first] = this.#sleepers;
        first?.();
        this.#probe = first === undefined ? undefined : this.#probeLater();
      },
      this.#options.probeEvery * (0.75 + 0.25 * Math.random()),
    );
    return timer.unref();
  }
}
