/** Where connections read to while they expect little: what is there is understood, or copied, before the next read. */
const shared = Buffer.allocUnsafeSlow(65_536);
/** Bytes of a buffer of one's own, and most of them that are kept for the next one who expects much. */
const own = { size: 131_072, mostKept: 16 } as const;
const free: Buffer[] = [];

/**
 * Where one connection reads to: one buffer that all share, or one of its own, used again and again, while it expects more
 * than fits there. What was read to its own may be lent to who writes it on.
 */
export class ReadBuffer {
  #own: Buffer | undefined;
  #first = true;
  #lent = false;

  /** Whether what was read lies in a buffer of its own, which may be lent. */
  get lendable(): boolean {
    return this.#own !== undefined;
  }

  /** Where to read to from now on, with so many bytes to come; undefined: as before. What was lent stays as it is. */
  next(expected: number): Buffer | undefined {
    const wantsOwn = expected > shared.length;
    if (this.#first) {
      this.#first = false;
      return shared;
    }
    if (wantsOwn === (this.#own !== undefined)) return undefined;
    if (wantsOwn) return (this.#own = free.pop() ?? Buffer.allocUnsafeSlow(own.size));
    this.drop();
    return shared;
  }

  /** Nothing is read to it until `takeBack`. */
  lend(): void {
    this.#lent = true;
  }

  takeBack(): void {
    this.#lent = false;
  }

  /** Nothing more is read to it. What is still lent is whoever's it was lent to. */
  drop(): void {
    if (this.#own !== undefined && !this.#lent && free.length < own.mostKept) free.push(this.#own);
    this.#own = undefined;
    this.#lent = false;
  }
}
