/** Runs at most `limit` tasks at a time; others wait in order. */
export class Bounded {
  readonly #limit: number;
  readonly #waiting: (() => void)[] = [];
  #running = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Resolves or rejects as `work` does. */
  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#running >= this.#limit) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    else this.#running += 1;
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      // The slot goes to the next waiter, so that a newcomer cannot overtake it.
      if (next === undefined) this.#running -= 1;
      else next();
    }
  }
}
