/** Bounds how many callbacks go to one host at once, so that a slow one does not hold up the others. */
export class HostSlots {
  readonly #perHost: number;
  readonly #taken = new Map<string, number>();

  constructor(perHost: number) {
    this.#perHost = perHost;
  }

  /** Takes a slot for the host of `url`; the returned function gives it back. Undefined when all are taken. */
  take(url: string): (() => void) | undefined {
    const host = URL.parse(url)?.host ?? "";
    const taken = this.#taken.get(host) ?? 0;
    if (taken >= this.#perHost) return undefined;
    this.#taken.set(host, taken + 1);
    let released = false;
    return () => {
      if (released) return;
      released = true;
      const left = (this.#taken.get(host) ?? 1) - 1;
      if (left > 0) this.#taken.set(host, left);
      else this.#taken.delete(host);
    };
  }
}
