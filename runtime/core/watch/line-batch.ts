/** Records a second. */
export const maxRecords = 200;

/** Characters of one batch: a line may have 64 Ki. */
export const maxBatch = 131_072;

/** Records that wait to be sent: at most 200 a second, and no more at once than a reader takes; the rest is counted. */
export class LineBatch<T> {
  #records: T[] = [];
  #size = 0;
  #skipped = 0;
  /** Begin of the second, monotonic milliseconds. */
  #since: number;
  #inSecond = 0;

  constructor(now: number) {
    this.#since = now;
  }

  /** `size` in characters. */
  add(record: T, size: number, now: number): void {
    if (now - this.#since >= 1_000) {
      this.#since = now;
      this.#inSecond = 0;
    }
    this.#inSecond += 1;
    const isFull = this.#records.length === maxRecords || this.#size + size > maxBatch;
    if (this.#inSecond > maxRecords || (isFull && this.#records.length > 0)) {
      this.#skipped += 1;
      return;
    }
    this.#records.push(record);
    this.#size += size;
  }

  /** What is to be sent, and how many came with it that are left out. */
  take(): { readonly records: readonly T[]; readonly skipped: number } {
    const taken = { records: this.#records, skipped: this.#skipped };
    this.#records = [];
    this.#size = 0;
    this.#skipped = 0;
    return taken;
  }
}
