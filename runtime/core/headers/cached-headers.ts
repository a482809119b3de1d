/**
 * Headers that may come with message after message, as clients and functions repeat themselves over a connection. The one
 * who sends them makes ready once what it sends.
 */
export class CachedHeaders {
  /** Flat: name, value, … */
  readonly list: readonly string[];
  #make: ((list: readonly string[]) => unknown) | undefined;
  #made: unknown;

  constructor(list: readonly string[]) {
    this.list = list;
  }

  /** What `make` makes of the list; the same one is asked the first time only. */
  made<T>(make: (list: readonly string[]) => T): T {
    if (this.#make !== make) {
      this.#made = make(this.list);
      this.#make = make;
    }
    return this.#made as T;
  }
}

/** `own` behind those that are repeated, if there are any. */
export function joinHeaders(repeated: CachedHeaders | undefined, own: string[]): string[] {
  return repeated === undefined ? own : [...repeated.list, ...own];
}
