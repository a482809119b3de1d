/** Calls `act` after `delay` milliseconds, unless the function that it returns is called before. */
export type Timer = (delay: number, act: () => void) => () => void;

/** Milliseconds without a change after which what was saved is taken to be whole. */
const quiet = 100;

/** Collects changes, and hands them over as soon as none has come for a moment. */
export class QuietChanges<Change> {
  readonly #take: (changes: ReadonlySet<Change>) => void;
  readonly #timer: Timer;
  readonly #changes = new Set<Change>();
  #cancel: (() => void) | undefined;

  constructor(take: (changes: ReadonlySet<Change>) => void, timer: Timer = systemTimer) {
    this.#take = take;
    this.#timer = timer;
  }

  add(change: Change): void {
    this.#changes.add(change);
    this.#cancel?.();
    this.#cancel = this.#timer(quiet, () => {
      this.#cancel = undefined;
      const changes = new Set(this.#changes);
      this.#changes.clear();
      this.#take(changes);
    });
  }

  /** Hands over nothing more. */
  close(): void {
    this.#cancel?.();
    this.#cancel = undefined;
  }
}

function systemTimer(delay: number, act: () => void): () => void {
  const timer = setTimeout(act, delay);
  return () => clearTimeout(timer);
}
