/** Milliseconds for which the outcome of a read is kept after it. */
export interface OutcomeLife {
  readonly success: number;
  readonly failure: number;
}

interface LastRead<T> {
  readonly outcome: Promise<T>;
  /** Undefined while it runs. */
  end: { readonly at: number; readonly life: number } | undefined;
}

/** Something that is read when it is needed. All who ask meanwhile share one read, and for a time its outcome. */
export class SharedRead<T> {
  readonly #read: () => Promise<T>;
  readonly #life: OutcomeLife;
  readonly #now: () => number;
  #last: LastRead<T> | undefined;

  constructor(read: () => Promise<T>, life: OutcomeLife, now: () => number) {
    this.#read = read;
    this.#life = life;
    this.#now = now;
  }

  /** The outcome of the last read, or of a new one if it is not kept any longer. */
  get(): Promise<T> {
    if (this.#last !== undefined && this.isKept) return this.#last.outcome;
    const last: LastRead<T> = { outcome: this.#read(), end: undefined };
    this.#last = last;
    const ended = (life: number): void => void (last.end = { at: this.#now(), life });
    last.outcome.then(
      () => ended(this.#life.success),
      () => ended(this.#life.failure),
    );
    return last.outcome;
  }

  /** Whether a read runs, or its outcome is kept. Absolute: a clock that was set back must not keep an old one. */
  get isKept(): boolean {
    if (this.#last === undefined) return false;
    const { end } = this.#last;
    return end === undefined || Math.abs(this.#now() - end.at) < end.life;
  }

  /** There is something new to be read. */
  forget(): void {
    this.#last = undefined;
  }
}
