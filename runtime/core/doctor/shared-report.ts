/** One computation for all readers: what was made is kept for some time, and while it is made, others wait for it. */
export class SharedReport<T> {
  readonly #make: () => Promise<T>;
  readonly #keptFor: number;
  readonly #now: () => number;
  #made: { readonly at: number; readonly report: Promise<T> } | undefined;

  /** `keptFor` in milliseconds from when the computation began; `now` counts monotonic milliseconds. */
  constructor(make: () => Promise<T>, keptFor: number, now: () => number = () => performance.now()) {
    this.#make = make;
    this.#keptFor = keptFor;
    this.#now = now;
  }

  /** Rejects if the computation does; it is then made again for the next reader. */
  read(): Promise<T> {
    const now = this.#now();
    if (this.#made !== undefined && now - this.#made.at < this.#keptFor) return this.#made.report;
    const report = this.#make();
    const made = { at: now, report };
    this.#made = made;
    report.catch(() => {
      if (this.#made === made) this.#made = undefined;
    });
    return report;
  }
}
