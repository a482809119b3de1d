/**
 * Headers that may be the same in every message of a connection, as clients and functions repeat themselves. The sender
 * derives once from them what it sends.
 */
export class CachedHeaders {
  /** Flat: name, value, … */
  readonly list: readonly string[];
  #make: ((list: readonly string[]) => unknown) | undefined;
  #made: unknown;

  constructor(list: readonly string[]) {
    this.list = list;
  }

  /** The result of `make` for the list; the same `make` is called the first time only. */
  made<T>(make: (list: readonly string[]) => T): T {
    if (this.#make !== make) {
      this.#made = make(this.list);
      this.#make = make;
    }
    return this.#made as T;
  }
}

/** The repeated headers, if any, followed by `own`. */
export function joinHeaders(repeated: CachedHeaders | undefined, own: string[]): string[] {
  return repeated === undefined ? own : [...repeated.list, ...own];
}
