import { setTimeout as pause } from "node:timers/promises";

/** A watch, as the metrics show it. */
export interface WatchedKind {
  readonly kind: string;
  /** Milliseconds since the API server last said something about its objects; infinite before the first list. */
  readonly age: number;
}

/** How a contact behaves; durations are milliseconds. */
export interface ContactOptions {
  /** While watches wait one of them tries so often, however long its own pause is. */
  readonly probeEvery?: number;
  /** Told when the last watch is well again. */
  readonly onRecovered?: () => void;
}

/** With the request itself, less than the 5 s in which all is to be well again. */
const probeEvery = 3_000;

/**
 * What the watches of one client tell each other of their API server. Each has its own pauses, which grow to half a minute;
 * the first that is answered after trouble ends those of all others.
 */
export class ServerContact {
  readonly #options: Required<ContactOptions>;
  readonly #watches = new Set<WatchedKind>();
  readonly #inTrouble = new Set<WatchedKind>();
  /** The one that waits longest is the first. */
  readonly #sleepers = new Set<() => void>();
  #probe: NodeJS.Timeout | undefined;

  constructor(options: ContactOptions = {}) {
    this.#options = { probeEvery, onRecovered: () => {}, ...options };
  }

  /** All watches there are. */
  get watches(): Iterable<WatchedKind> {
    return this.#watches;
  }

  join(watch: WatchedKind): void {
    this.#watches.add(watch);
  }

  leave(watch: WatchedKind): void {
    this.#watches.delete(watch);
    this.#inTrouble.delete(watch);
  }

  /** Whether this is the first trouble: one line of the log is enough for all. */
  failed(watch: WatchedKind): boolean {
    const isFirst = this.#inTrouble.size === 0;
    this.#inTrouble.add(watch);
    return isFirst;
  }

  /** The API server answered: when this watch was in trouble all others try at once. */
  answered(watch: WatchedKind): void {
    if (!this.#inTrouble.has(watch)) return;
    for (const wake of this.#sleepers) wake();
  }

  /** The watch is well. */
  recovered(watch: WatchedKind): void {
    if (this.#inTrouble.delete(watch) && this.#inTrouble.size === 0) this.#options.onRecovered();
  }

  /** Resolves after so many milliseconds, or sooner when it is worth a try; rejects with the reason of `signal`. */
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
