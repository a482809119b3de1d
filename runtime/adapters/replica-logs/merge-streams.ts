interface Source<T> {
  readonly iterator: AsyncIterator<T>;
  next: Promise<{ readonly source: Source<T>; readonly result: IteratorResult<T> }>;
}

/** Merges sequences in the order in which their values arrive; more can be added. Requests one value ahead of each. */
export class MergedStreams<T> {
  readonly #sources = new Set<Source<T>>();
  #joined = Promise.withResolvers<undefined>();
  #closed = false;

  add(sequence: AsyncIterable<T>): void {
    const iterator = sequence[Symbol.asyncIterator]();
    const source: Source<T> = { iterator, next: new Promise(() => {}) };
    requestNext(source);
    this.#sources.add(source);
    this.#wake();
  }

  /** No more sequences will be added: `values` ends when all present ones have. */
  close(): void {
    this.#closed = true;
    this.#wake();
  }

  /** All values; rejects when a sequence does. */
  async *values(): AsyncGenerator<T> {
    try {
      while (!this.#closed || this.#sources.size > 0) {
        const arrived = await Promise.race([this.#joined.promise, ...[...this.#sources].map(({ next }) => next)]);
        if (arrived === undefined) {
          this.#joined = Promise.withResolvers();
          continue;
        }
        const { source, result } = arrived;
        if (result.done === true) {
          this.#sources.delete(source);
          continue;
        }
        requestNext(source);
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

function requestNext<T>(source: Source<T>): void {
  source.next = source.iterator.next().then((result) => ({ source, result }));
  // `values` reports it; until then the rejection must not count as unhandled.
  source.next.catch(() => {});
}
