interface Source<T> {
  readonly iterator: AsyncIterator<T>;
  next: Promise<{ readonly source: Source<T>; readonly result: IteratorResult<T> }>;
}

/** Several sequences as one, in the order in which their values come; more can join. What is not read is not asked for. */
export class MergedStreams<T> {
  readonly #sources = new Set<Source<T>>();
  #joined = Promise.withResolvers<undefined>();
  #closed = false;

  /** Adds a sequence. */
  add(sequence: AsyncIterable<T>): void {
    const iterator = sequence[Symbol.asyncIterator]();
    const source: Source<T> = { iterator, next: new Promise(() => {}) };
    ask(source);
    this.#sources.add(source);
    this.#wake();
  }

  /** No sequence will be added any more: the values end with the sequences. */
  close(): void {
    this.#closed = true;
    this.#wake();
  }

  /** All values; a sequence that fails ends it. */
  async *values(): AsyncGenerator<T> {
    try {
      while (!this.#closed || this.#sources.size > 0) {
        const came = await Promise.race([this.#joined.promise, ...[...this.#sources].map(({ next }) => next)]);
        if (came === undefined) {
          this.#joined = Promise.withResolvers();
          continue;
        }
        const { source, result } = came;
        if (result.done === true) {
          this.#sources.delete(source);
          continue;
        }
        ask(source);
        yield result.value;
      }
    } finally {
      for (const { iterator } of this.#sources) void iterator.return?.().catch(() => {});
    }
  }

  #wake(): void {
    this.#joined.resolve(undefined);
  }
}

function ask<T>(source: Source<T>): void {
  source.next = source.iterator.next().then((result) => ({ source, result }));
  // Seen when its turn comes; nobody may be waiting then.
  source.next.catch(() => {});
}
